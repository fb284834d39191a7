package corpus

import "time"

// job is a request inside of the service.
type job struct {
	number         int64 // in the order in which requests are due
	intended, sent int64 // ns since the trial's beginning
	due            int64 // intended, or when a connection became free
	lag            int64 // the generator's own delay
	done           int64
	work           float64 // ns of CPU that are left
	call           time.Duration
	until          int64 // the end of its lock and its call
	holds          bool  // its worker until then
	status         int   // 0: no answer
	end            ending
	left           bool // the client has given it up
	collects       bool // it is the runtime's own work
	last           bool // it has its call behind it
	thread         int  // its worker's
	of             *job // the request that this one repeats; nil: none
	ready          bool // it, or one that repeats it, was answered
}

// origin is the request that a job is for.
func (j *job) origin() *job {
	if j.of != nil {
		return j.of
	}
	return j
}

// ending is how a request ended.
type ending int

const (
	open ending = iota
	answered
	timedOut
	refused
	cut
)

// server runs a Service: it advances from event to event in nanoseconds.
type server struct {
	Service
	draws  *draws
	cpus   float64 // of the machine
	quota  float64 // ns of CPU in a period; 0: no limit
	period int64
	others course     // CPUs that others have
	ended  func(*job) // an answer leaves

	now     int64
	pause   bool    // stop at the next event
	index   int64   // of the period
	left    float64 // of its quota
	stopped int64   // since when it is throttled; -1: it is not
	running []*job
	away    []*job // behind the lock or in a call
	queue   []*job
	retries []retry // in order
	// collected is what the runtime has to do after the requests that end now.
	collected []*job
	calls     []time.Duration // since the last interval
	lockFree  int64
	wasDown   bool

	used             float64 // ns of CPU, total
	periods          int64
	throttledPeriods int64
	throttled        float64 // ns, of all CPUs that it ran on
	active           bool    // it used CPU in this period
	restarts, kills  int64
	windows          []window
	threads          []thread // since the last interval, if it has them; the last is the runtime's
	turn             int      // the thread that took the last request
}

// thread is what a thread did, in ns: it ran or waited for a CPU, and ran.
type thread struct{ wanted, ran float64 }

// retry is when a request is sent again, if it is not answered until then.
type retry struct {
	at   int64
	of   *job
	left int
}

// window is a time in which the service could not run.
type window struct {
	from, to int64
	down     bool
	cpus     int
}

func newServer(s Service, d *draws, cpus float64, limit float64, period time.Duration) *server {
	v := &server{Service: s, draws: d, cpus: cpus, period: int64(period), stopped: -1}
	v.quota = limit * float64(period)
	v.left = v.quota
	if s.Threads {
		v.threads = make([]thread, s.Workers+1)
	}
	return v
}

func (v *server) inside() int { return v.working() + len(v.away) + len(v.queue) }

// working is how many requests use a CPU.
func (v *server) working() (n int) {
	for _, j := range v.running {
		if !j.collects {
			n++
		}
	}
	return n
}

// paused reports whether it stands still, and when that changes next.
func (v *server) paused() (bool, int64) {
	if v.Every <= 0 {
		return false, never
	}
	begins := v.now - v.now%int64(v.Every)
	if ends := begins + int64(v.Pause); v.now < ends {
		return true, ends
	}
	return false, begins + int64(v.Every)
}

func (v *server) up() bool {
	_, down := during(v.Down, v.now)
	return !down
}

// busy is how many workers have a request.
func (v *server) busy() int {
	n := v.working()
	for _, j := range v.away {
		if j.holds {
			n++
		}
	}
	return n
}

// arrive takes a request now.
func (v *server) arrive(j *job) {
	if !v.up() || v.Backlog > 0 && v.busy() >= v.Workers && len(v.queue) >= v.Backlog {
		j.end, j.done = refused, v.now
		v.ended(j)
		return
	}
	if v.Sheds > 0 && v.inside() >= v.Sheds {
		j.end, j.done, j.status = answered, v.now, 503
		v.ended(j)
		return
	}
	v.queue = append(v.queue, j)
	v.later(j, v.Retries)
	v.fill()
}

// later plans the next retry of a request.
func (v *server) later(j *job, left int) {
	if v.Retry > 0 && left > 0 {
		v.retries = append(v.retries, retry{v.now + int64(v.Retry), j, left})
	}
}

// retry sends again what is due and was not answered. What finds the backlog full is
// lost.
func (v *server) retry() {
	for len(v.retries) > 0 && v.retries[0].at <= v.now {
		r := v.retries[0]
		v.retries = v.retries[1:]
		if r.of.ready || r.of.end == cut {
			continue
		}
		if v.Backlog == 0 || len(v.queue) < v.Backlog {
			v.queue = append(v.queue, &job{number: r.of.number, of: r.of})
		}
		v.later(r.of, r.left-1)
	}
	v.fill()
}

// fill gives waiting requests to free workers.
func (v *server) fill() {
	for len(v.queue) > 0 && v.busy() < v.Workers {
		j := v.queue[0]
		v.queue = v.queue[1:]
		r := v.draws.of(j.number)
		chance := r.Float64()
		j.work = float64(v.Work(r))
		if v.Call != nil {
			j.call = v.Call(r)
		}
		if v.Slowed != nil {
			j.work *= v.Slowed(v.inside() + 1)
		}
		if v.Aged != nil {
			j.work *= v.Aged(time.Duration(v.now))
		}
		j.status = 200
		if v.Fails != nil && chance < v.Fails(v.inside()+1) {
			j.status = 500
		}
		if v.threads != nil {
			j.thread = v.idle()
		}
		v.running = append(v.running, j)
	}
}

// idle is the thread that takes the next request. They take turns.
func (v *server) idle() int {
	has := make([]bool, v.Workers)
	for _, j := range v.running {
		if !j.collects {
			has[j.thread] = true
		}
	}
	for _, j := range v.away {
		has[j.thread] = has[j.thread] || j.holds
	}
	for v.turn++; has[v.turn%v.Workers]; v.turn++ {
	}
	return v.turn % v.Workers
}

// speed is the CPU that each running request gets.
func (v *server) speed() float64 {
	if len(v.running) == 0 || v.stopped >= 0 || !v.up() {
		return 0
	}
	if paused, _ := v.paused(); paused {
		return 0
	}
	free := max(v.cpus-v.others.at(v.now), 0.02*v.cpus)
	return min(1, free/float64(len(v.running)))
}

// until runs the service up to a time, or until pause is set meanwhile, and returns when
// it stopped.
func (v *server) until(to int64) int64 {
	for v.pause = false; v.now < to && !v.pause; {
		v.die()
		speed := v.speed()
		paused, changes := v.paused()
		next := min(to, (v.index+1)*v.period, v.others.next(v.now), edge(v.Down, v.now), changes)
		for _, j := range v.away {
			if !paused {
				next = min(next, max(j.until, v.now+1))
			}
		}
		if len(v.retries) > 0 {
			next = min(next, max(v.retries[0].at, v.now+1))
		}
		if speed > 0 {
			for _, j := range v.running {
				next = min(next, v.now+max(int64(j.work/speed+0.5), 1))
			}
			if v.quota > 0 {
				next = min(next, v.now+max(int64(v.left/(speed*float64(len(v.running)))+0.5), 1))
			}
		}
		v.pass(next, speed)
	}
	return v.now
}

// die ends what is inside when the service goes down.
func (v *server) die() {
	s, down := during(v.Down, v.now)
	if down == v.wasDown {
		return
	}
	v.wasDown = down
	if !down {
		v.restarts++
		return
	}
	if v.OOM {
		v.kills++
	}
	v.windows = append(v.windows, window{from: int64(s.From), to: int64(s.To), down: true})
	lost := append(append(v.running, v.away...), v.queue...)
	v.running, v.away, v.queue, v.retries, v.stopped = nil, nil, nil, nil, -1
	for _, j := range lost {
		if j.collects || j.origin().ready || j.of != nil {
			continue
		}
		j.end, j.done = cut, v.now
		v.ended(j)
	}
}

// pass advances to a time before which nothing changes.
func (v *server) pass(next int64, speed float64) {
	took := float64(next - v.now)
	n := float64(len(v.running))
	if paused, _ := v.paused(); v.threads != nil && !paused {
		for _, j := range v.running {
			v.threads[j.thread].wanted += took
			v.threads[j.thread].ran += took * speed
		}
	}
	v.now = next
	if speed > 0 {
		v.active = true
		v.used += took * speed * n
		if v.quota > 0 {
			v.left -= took * speed * n
		}
		still := v.running[:0]
		for _, j := range v.running {
			if j.work -= took * speed; j.work >= 1 {
				still = append(still, j)
			} else {
				v.worked(j)
			}
		}
		v.running = append(still, v.collected...)
		v.collected = nil
	}
	if paused, _ := v.paused(); !paused && len(v.away) > 0 {
		v.back()
	}
	v.retry()
	periodEnds := v.now == (v.index+1)*v.period
	if v.quota > 0 && v.left < 1 && v.stopped < 0 && len(v.running) > 0 && !periodEnds {
		v.stopped = v.now
	}
	if periodEnds {
		v.nextPeriod()
	}
}

// back takes the requests that are done with their lock and their call.
func (v *server) back() {
	still := v.away[:0]
	for _, j := range v.away {
		switch {
		case j.until > v.now:
			still = append(still, j)
		case v.After > 0:
			j.last, j.work = true, float64(v.After)
			v.running = append(v.running, j)
		default:
			v.answer(j)
		}
	}
	v.away = still
}

// worked is called when a request has used its CPU.
func (v *server) worked(j *job) {
	if j.collects {
		return
	}
	if j.last {
		v.answer(j)
		return
	}
	if v.Collect > 0 {
		v.collected = append(v.collected, &job{collects: true, work: float64(v.Collect), thread: v.Workers})
	}
	j.until = v.now
	if v.Lock > 0 {
		v.lockFree = max(v.lockFree, v.now) + int64(v.Lock)
		j.until, j.holds = v.lockFree, true
	}
	if v.Call != nil {
		v.calls = append(v.calls, j.call)
		j.until += int64(j.call)
		j.holds = j.holds || v.Blocking
	}
	if j.until > v.now {
		v.away = append(v.away, j)
		return
	}
	v.answer(j)
}

func (v *server) answer(j *job) {
	of := j.origin()
	if of.ready {
		return
	}
	of.ready, of.status = true, j.status
	of.end, of.done = answered, v.now
	v.ended(of)
}

func (v *server) nextPeriod() {
	v.index++
	if v.active || v.stopped >= 0 {
		v.periods++
	}
	v.active = false
	if v.quota == 0 {
		return
	}
	v.left = min(v.left, 0) + v.quota
	if v.stopped < 0 {
		return
	}
	v.throttledPeriods++
	on := max(1, min(len(v.running), int(v.cpus)))
	v.throttled += float64(v.now-v.stopped) * float64(on)
	v.windows = append(v.windows, window{from: v.stopped, to: v.now, cpus: on})
	v.stopped = -1
}
