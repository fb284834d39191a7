package corpus

// Truth is what is known of a case by construction. A field without a value states
// nothing.
type Truth struct {
	// Identical cells differ by chance only: none may be stated to be better.
	Identical bool
	// Better are pairs of cells by their value of v, or their service: the first has the
	// lower latency, and the higher breaking point. If there are any, no other order may
	// be stated.
	Better [][2]string
	// Tail is the main cause of the slow tail: generator, throttling, dependency,
	// restart, neighbours or rest.
	Tail string
	// Limits are the values of limited_by that are right.
	Limits []string
	// Breaks are the ends between which each cell breaks, by queueing theory or by long
	// simulated loads.
	Breaks [2]float64
	// Ended is why its search ends; empty: whyever.
	Ended string
	// Flat latency does not depend on the load, as far as it is tried.
	Flat bool
	// Late is a generator that sends late; Disturbers take CPU.
	Late       bool
	Disturbers []string // neighbours, hypervisor
}

// Truth is what is known of the case by construction.
func (c *Case) Truth() Truth { return truths[c.Name] }

var ab, ba = [][2]string{{"A", "B"}}, [][2]string{{"B", "A"}}

// truths are those of the cases by their names. Breaking points are those of an M/M/1
// queue, p99 = ln 100 / (mu - lambda), or of loads that were simulated for 200 s.
var truths = map[string]Truth{
	"two-identical":               {Identical: true, Tail: "rest"},
	"twelve-identical":            {Identical: true, Tail: "rest"},
	"pooled-against-median":       {Better: ab, Tail: "rest"},
	"refuses-most":                {Tail: "rest"},
	"fails-two-percent":           {Better: ba, Tail: "rest"},
	"p999":                        {Better: ab, Tail: "rest"},
	"parallelism-throttles":       {Better: ab},
	"steal-in-one-trial":          {Identical: true, Disturbers: []string{"hypervisor"}},
	"two-slow-trials":             {Tail: "throttling"},
	"hog-throughout":              {Disturbers: []string{"neighbours"}},
	"generator-stalls":            {Tail: "generator", Late: true},
	"generator-stall-makes-queue": {Late: true},
	"generator-too-slow":          {Tail: "generator", Late: true},
	"lock-at-rate":                {Tail: "rest"},
	"timeouts":                    {Tail: "rest"},
	"kept-service":                {Better: ab},
	"few-requests":                {Identical: true},

	"search-limit":                {Breaks: [2]float64{188, 195}},
	"search-limit-smooth":         {Limits: []string{"cpu limit"}, Breaks: [2]float64{480, 500}},
	"search-one-worker":           {Limits: []string{"service"}, Breaks: [2]float64{238, 244}},
	"search-two-workers-of-four":  {Limits: []string{"service"}, Breaks: [2]float64{575, 595}},
	"search-one-worker-unlimited": {Limits: []string{"service"}, Breaks: [2]float64{238, 244}},
	"search-lock":                 {Limits: []string{"service"}, Breaks: [2]float64{150, 157}},
	"search-dependency":           {Limits: []string{"service", "dependency"}, Breaks: [2]float64{168, 175}},
	"search-generator":            {Limits: []string{"generator"}},
	"search-host":                 {Limits: []string{"service", "host"}, Breaks: [2]float64{308, 318}},
	"search-misses-always":        {Limits: []string{"service"}, Flat: true},
	"search-always-fails":         {Limits: []string{"errors"}},
	"search-stalled-generator":    {Limits: []string{"generator"}},
	"search-warms-up":             {Ended: "rose"},
	"search-leaks":                {Ended: "fell"},
	"search-identical":            {Identical: true},
	"search-different":            {Better: ab},
	"search-dead-starts":          {Better: ab},
	"ramp-flat":                   {Flat: true},
	"ramp-identical":              {Identical: true},

	"closed-three":             {Better: [][2]string{{"A", "B"}, {"A", "C"}, {"C", "B"}}},
	"closed-six-identical":     {Identical: true},
	"closed-few-users":         {Tail: "rest"},
	"p95":                      {Better: ab},
	"availability":             {Identical: true},
	"latency-and-availability": {Tail: "rest"},
	"no-objective":             {Better: ab},
	"oom-in-one-cell":          {Better: ba},
	"one-trial":                {Better: ab},
	"three-trials":             {Better: ab},
	"four-identical-trials":    {Identical: true},
	"one-dead-trial":           {Better: ab},
	"interrupted":              {Better: ab},
	"three-ordered":            {Better: [][2]string{{"B", "A"}, {"B", "C"}, {"C", "A"}}},
	"two-of-six-better":        {Better: [][2]string{{"B", "A"}, {"B", "C"}, {"B", "E"}, {"B", "F"}, {"D", "A"}, {"D", "C"}, {"D", "E"}, {"D", "F"}}},
	"identical-beside-a-hog":   {Better: ba, Disturbers: []string{"neighbours"}},
	"hog-in-most-trials":       {Better: [][2]string{{"A", "C"}, {"B", "A"}, {"B", "C"}}, Disturbers: []string{"neighbours"}},
	"quick-but-failing":        {Better: ba},
	"long-requests-throttle":   {Tail: "throttling"},
	"search-p95":               {Limits: []string{"service"}, Breaks: [2]float64{268, 278}},
	"search-users":             {Limits: []string{"service"}},
	"ramp-of-a-slow-cell":      {Better: ab},
	"try-level":                {Better: [][2]string{{"b", "a"}, {"c", "a"}}},
}
