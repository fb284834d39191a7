package chaos

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Fault is what is done to a target.
type Fault string

// The faults. The names are those of the table.
const (
	Kill      Fault = "SIGKILL"
	Terminate Fault = "SIGTERM"
	Interrupt Fault = "SIGINT"
	Pause     Fault = "SIGSTOP, later SIGCONT"
	Stop      Fault = "SIGSTOP"
	Full      Fault = "disk full"
	FewFiles  Fault = "ulimit -n"
	Clock     Fault = "clock step"
)

// Target is a part of a run, or of the machine.
type Target string

// The targets.
const (
	Lab       Target = "lab"
	Agent     Target = "agent"
	Service   Target = "service"
	Database  Target = "database"
	Client    Target = "client" // `millicore run --on kubernetes`
	Conductor Target = "conductor"
	NodeAgent Target = "node agent"
	Record    Target = "record" // the disk with the record and temporary files
	State     Target = "state"  // the disk with the ledgers
	Machine   Target = "machine"
)

// Case is one fault of one target.
type Case struct {
	Fault  Fault
	Target Target
}

func (c Case) String() string { return fmt.Sprintf("%s: %s", c.Target, c.Fault) }

// cases are all cases of a platform, in a fixed order: it is part of what a seed means. The
// emulated machine is slow: it has what depends on the version of cgroups, and the clock.
func cases(platform string) (all []Case) {
	signals := []Fault{Kill, Terminate, Interrupt, Pause, Stop}
	each := func(faults []Fault, targets ...Target) {
		for _, target := range targets {
			for _, fault := range faults {
				all = append(all, Case{fault, target})
			}
		}
	}
	switch platform {
	case "kubernetes":
		each(signals, Client, Conductor, Agent, Service, Database, NodeAgent)
		return append(all, Case{Full, Record}, Case{FewFiles, Client})
	case "vm":
		each(signals, Lab)
		each([]Fault{Kill, Stop}, Agent, Service, Database)
		each([]Fault{Clock, Clock, Clock, Clock, Clock}, Machine)
		return append(all, Case{Full, Record}, Case{Full, State}, Case{FewFiles, Lab})
	}
	each(signals, Lab, Agent, Service, Database)
	return append(all, Case{Full, Record}, Case{Full, Record}, Case{Full, State}, Case{FewFiles, Lab}, Case{FewFiles, Lab})
}

// Plan is one attempt of a campaign.
type Plan struct {
	Platform string
	Seed     uint64
	Case
	Load  time.Duration // of the run
	After time.Duration // the fault, counted from when the target was first seen
	// AtEnd: After counts from when the record has its last line. What follows are the
	// files that are derived from it.
	AtEnd bool
	Hold  time.Duration // of Pause; of Stop, before a lab that does not end is killed
	Files int           // the limit of FewFiles
	Step  time.Duration // of Clock
	// Database: the run has a database. Two: another run is under way.
	Database, Two bool
}

// Draw is the plan of a seed. Consecutive seeds are permutations of a platform's cases, one
// after another, so that a campaign of that many attempts has each case.
func Draw(platform string, seed uint64) Plan {
	all := cases(platform)
	n := uint64(len(all))
	block := rand.New(rand.NewPCG(seed/n, 1))
	r := rand.New(rand.NewPCG(seed, 2))
	p := Plan{Platform: platform, Seed: seed, Case: all[block.Perm(len(all))[seed%n]]}
	p.Load = between(r, 2*time.Second, 4*time.Second)
	p.After = between(r, 0, p.Load)
	if p.Target == Lab || p.Target == Client || p.Target == Record || p.Target == State || p.Target == Machine {
		p.After = between(r, 0, p.Load+1500*time.Millisecond) // also while it starts and ends
	}
	p.Hold = between(r, 100*time.Millisecond, 2*time.Second)
	p.Files = 16 + r.IntN(49)
	if p.Fault == FewFiles {
		p.After = 0 // the limit is that of the whole run
	}
	p.Step = step(r)
	if p.AtEnd = p.Target == Lab && p.Fault != FewFiles && r.IntN(3) == 0; p.AtEnd {
		p.After = between(r, 0, 40*time.Millisecond)
	}
	p.Database = p.Target == Database || r.IntN(4) == 0
	p.Two = r.IntN(4) == 0
	return p
}

// between is a time from least up to most, in whole milliseconds.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64((most-least)/time.Millisecond)))*time.Millisecond
}

// step is a step of the clock, forwards or backwards, from a second to three hours. Each
// order of magnitude is equally likely.
func step(r *rand.Rand) time.Duration {
	d := time.Duration(math.Exp(r.Float64()*math.Log(3*3600))*1000) * time.Millisecond
	if r.IntN(2) == 0 {
		return -d
	}
	return d
}

// head reports whether the target conducts or follows the run.
func (p *Plan) head() bool { return p.Target == Lab || p.Target == Client || p.Target == Conductor }

// Name is the row of the plan in the table.
func (p *Plan) Name() string { return fmt.Sprintf("%s of %s", p.Fault, p.Target) }

// String has what a reader needs to understand a failure.
func (p *Plan) String() string {
	since := "it was first seen"
	if p.AtEnd {
		since = "the end of the record"
	}
	s := fmt.Sprintf("%s, %v after %s; load for %v", p.Case, p.After, since, p.Load)
	switch {
	case p.Fault == Pause:
		s += fmt.Sprintf(", continued after %v", p.Hold)
	case p.Fault == Stop && p.head():
		s += fmt.Sprintf(", killed after %v", p.Hold)
	case p.Fault == FewFiles:
		s += fmt.Sprintf(", %d files", p.Files)
	case p.Fault == Clock:
		s += fmt.Sprintf(", by %v", p.Step)
	}
	if p.Database && p.Target != Database {
		s += ", with a database"
	}
	if p.Two {
		s += ", beside another run"
	}
	return s
}

// Repeat is the command that repeats the attempt.
func (p *Plan) Repeat() string {
	switch p.Platform {
	case "kubernetes":
		return fmt.Sprintf("test/cluster/with.sh go test ./test/kubernetes -count=1 -v -run TestCampaign -seed %d -runs 1", p.Seed)
	case "vm":
		return fmt.Sprintf("go test ./test/vm -count=1 -v -run TestCampaign -seed %d -runs 1", p.Seed)
	}
	return fmt.Sprintf("go test ./test/chaos -count=1 -v -run TestCampaign -platform %s -seed %d -runs 1", p.Platform, p.Seed)
}
