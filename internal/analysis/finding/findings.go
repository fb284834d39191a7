package finding

// Whether a cell meets its objective, and what was measured.
const (
	ObjectiveMet Kind = iota + 700
	ObjectiveMissed
	ObjectiveUnknown     // whether it was met
	NoLoadMeets          // no load was seen to meet it
	LoadUnknown          // up to which load it is met
	MeetsUpTo            // Load
	EstimatedUpTo        // Load, untested
	ObjectiveIs          // Text
	Measured             // Because has the figures
	MeasuredAt           // likewise, at Load
	MissedAt             // Load
	NotDecided           // Because has the figure that is too near to the objective
	QuantileOfNoLevel    // the quantile Text needs a single load level
	QuantileMeasured     // the quantile Text is Value ms
	QuantileTogether     // likewise, of all requests together
	AvailabilityOfNone   // no request ended
	AvailabilityMeasured // Value percent
	NearByTrials         // the 95% interval of Text, Value to Other ms, contains the objective
	NearByFew            // likewise, too near to it for so few trials or requests
	TooFewRequests       // N for the quantile Text, which needs Of
	NearAvailability     // likewise, the availability, in percent
	DisturbedMiss        // others disturbed most of the trials
	OutlyingTrials       // the median over Of trials is Value ms, and N of them miss it: up to Other ms of Text
	FailedRequests       // a Share failed, and counts as infinitely late
	LateRequests         // a Share was later than Time
	OnlyGeneratorMisses  // the objective, by its own delay
)

// What happened to trials and services.
const (
	TrialsInvalid  Kind = iota + 750 // N
	TrialsFailed                     // N
	TrialsCutOff                     // N
	TrialsLeftOut                    // N, which were cut off
	TrialsNamed                      // Names; Because has the reasons, and N more
	SkippedService                   // Text
	OrderOfFailure                   // as the load rises
	LoadsOfFailure                   // without an order
	FailAtLoads                      // Because has the groups, ascending
	HoldToLoads                      // likewise
	CellsFail                        // Names, at Load; Text is its unit, or ""
	CellsHold                        // Names, up to Load
	NotRanked                        // Because has why
	NoTest                           // by Gap; each cell has N trials, or ramps as Text has it, and Of are needed
	SomeAlike                        // not all differences are significant
	MemoryGrows                      // from run to run
	MemoryPeaks                      // Loads are bytes, under a limit of Value; 0: none. Other times the first
)
