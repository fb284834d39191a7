package main

import (
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/maxprocs"
)

func TestSemaphoreAdmitsSoMany(t *testing.T) {
	s := NewSemaphore(2)
	s.Acquire()
	s.Acquire()
	admitted := make(chan struct{})
	go func() {
		for range 3 {
			s.Acquire()
			admitted <- struct{}{}
		}
	}()
	s.Release()
	<-admitted
	s.Resize(3)
	<-admitted
	s.Resize(1) // three are held
	s.Release()
	s.Release()
	s.mu.Lock()
	held := s.held
	s.mu.Unlock()
	if held != 1 {
		t.Errorf("%d are held, want 1: the third may not be admitted yet", held)
	}
	s.Release()
	<-admitted
}

func TestWork(t *testing.T) {
	if took := work(NewSemaphore(1), time.Millisecond); len(took) == 0 || took[0] <= 0 {
		t.Errorf("got %v", took)
	}
}

func TestThrottling(t *testing.T) {
	none := maxprocs.Stats{Limit: maxprocs.CPULimit{State: maxprocs.Unlimited}}
	if got := throttling(none, none); !strings.Contains(got, "unlimited") {
		t.Error(got)
	}
	at := func(periods, throttled int64) maxprocs.Stats {
		return maxprocs.Stats{
			Limit:      maxprocs.CPULimit{State: maxprocs.Limited, CPUs: 1.5},
			Throttling: &maxprocs.Throttling{Periods: periods, ThrottledPeriods: throttled},
		}
	}
	if got := throttling(at(10, 3), at(60, 41)); got != "limit 1.5 CPUs: throttled in 38 of 50 periods" {
		t.Error(got)
	}
}
