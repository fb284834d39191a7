package finding

// Kind is what was found.
type Kind int

// None: there is nothing to state.
const None Kind = 0

// Why a search has no answer, or only a bound.
const (
	NothingToMiss          Kind = iota + 1 // the objective has no part that a load could miss
	UpperEndUnknown                        // the generator or the host was the limit above Load
	WideInterval                           // Seconds of traffic gave too few windows near Load
	FailsAtAnyLoad                         // a Share of the requests fails at every load, and Allowed is less
	MissedAtEveryLoad                      // down to Load, and the time was used up
	MissedAtLowest                         // at Load; Because has the shares
	NothingAnswered                        // down to Load, requests ended, none with a good answer
	TooShort                               // Time is too short for a search
	GeneratorLimitAbove                    // the generator or the host was the limit above Load
	GeneratorLimitAtLowest                 // and even at Load
	MetAtHighestAllowed                    // the objective is met at Load
	NothingMissed                          // until the time was used up, up to Load
	Unavailable                            // the service, from Load on; Because has why
	EndedUnavailable                       // likewise, and there is an answer below
	NothingEnded                           // in N windows at Load
	BesideOthers                           // Who took CPU in most windows, or for Time; Because has what was met
	BoundBesideOthers                      // likewise, but Requests at Load met the objective
	EndedEarly                             // Text is what an agent reported
	BoundEndedEarly                        // likewise, so the answer is a lower bound
	Interrupted                            // the search was
	CapacityRose                           // from about Load to about Other, in Seconds, while it was searched
	CapacityFell                           // likewise
	TooFewToDecide                         // of Requests a Share failed at any load; Allowed; at least Again are needed
	MetFarAbove                            // Load missed the objective, and an overload of Other met it
	MissesInBursts                         // at Load, about every Seconds (0: unknown): a Share of the requests is late, and Allowed is less
	BurstsUndecided                        // at Load, held for Seconds: a Share of the requests was late in N bursts, and Allowed is more
	LateAtAnyLoad                          // a Share of the requests was late at the loads up to Load, and Allowed is less
	PerhapsLateAtAnyLoad                   // likewise, but a lower load may meet the objective; none was seen to
)

// Details of these.
const (
	LateOrFailed      Kind = iota + 100 // a Share of the requests; Allowed
	WithoutGoodAnswer                   // a Share of the requests; Allowed
	StoppedAnswering                    // none of Requests had a good answer, nor of Again at Load, which was held before
	NoRequestEnded                      // in N windows
	MetAndMissedNear                    // Requests at Load met the objective, and a load near it missed
	MetTooBriefly                       // Load was met N times, with Requests, held for Seconds
	MetByTooFew                         // Load was met N times, with Requests
	Recorded                            // Text is what the record has
)

// Why it is not known whether a service recovers from an overload.
const (
	RecoveryNotAsked  Kind = iota + 200 // it is not part of the search
	FewUsers                            // too few to be reduced in steps
	OthersTookCPU                       // Who
	GeneratorLimit                      // the generator or the host was the limit
	RecoveryTimeUsed                    // before it was known
	OverloadMet                         // an overload of Load met the objective
	NoOverload                          // none could be generated
	NoBreakingPoint                     // was found
	UnavailableBefore                   // the service, during the search
	NotBroken                           // no load was seen to break the service
	NotMeasured
	NothingSustained // before the overload, no load met the objective for long
)
