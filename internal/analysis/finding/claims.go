package finding

// What the verdict on a claim rests on. Value is the claim's bound, Text its unit, and
// Because has what the interval rests on.
const (
	IntervalAbove    Kind = iota + 300 // the interval lies above the bound
	IntervalBelow                      // or below it
	IntervalContains                   // or contains it
	LowerBoundBelow                    // only a lower end is known, which lies below the bound

	EventsInTrials      // at least Value events, named Text, in N of Of trials
	EventsUnderLessLoad // likewise, and the generator was the limit
	NoEventInOneTrial   // likewise, which proves nothing

	InOrder           // each of the cells lies below the next one; Share is the highest P
	LiesAbove         // Names[0] lies above Names[1], with P Share
	Alike             // Names do not differ significantly, with P Share
	AlikeByLowerBound // Names cannot be distinguished, because the first is a lower bound
	PairNotTested     // Names, by Gap; each has N or more of Text, which is trials if empty, and Of are needed
)

// What an interval rests on.
const (
	Interval         Kind = iota + 350 // the 95% interval over trials
	IntervalOfSearch                   // of one search
	RangeOfTrials                      // of N trials
	RangeOfSteps                       // of N steps of growth
	RangeOfLevels                      // between two levels of a ramp
)

// Why a figure allows no verdict. Names[0] is its cell.
const (
	NoSuchCell         Kind = iota + 400
	NoSuchLevel             // Load
	NothingMeasured         // Text is why, if it is known
	MetricNotMeasured       // Text is the metric
	NoSingleLevel           // of the load, which the metric Text needs
	OneTrial                // gives no interval
	NotSearched             // for the breaking point
	NoneFound               // no breaking point; Because has why
	RestartedEachTrial      // so that nothing can grow
	MemoryNotMeasured
	OneTrialNoGrowth
	OneStepOfGrowth
	Disturbed         // by Who, while it was measured
	MostlyDisturbed   // most of its trials
	GeneratorWasLimit // not the service
	SentLate          // so that part of the latency is the generator's
	TailIsGenerators  // mostly
	RatioToZero       // it is 0
	BothLowerBounds   // of a ratio
	TooFewCPUs        // the host has N, and Of are needed
)

// What qualifies a verdict.
const (
	OneStart             Kind = iota + 450 // of one search or one ramp, as Text has it
	OnlyLowerBound                         // is known for Names[0]; Because has why
	LowerBoundByFailures                   // likewise, because too many requests failed
	TouchedBy                              // the flag Text matters for the cells Names
	NotRestarted                           // between trials
	SetOnCommandLine                       // Names
)
