package platform

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnInterruptedRunMayWaitForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		out, end := Leaving(ctx)
		defer end()
		time.Sleep(time.Hour)
		if out.Err() != nil {
			t.Fatal("it ended before it was interrupted")
		}
		interrupt()
		time.Sleep(LeaveWithin - 1)
		synctest.Wait()
		if out.Err() != nil {
			t.Error("it ended at once")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if out.Err() == nil {
			t.Errorf("it goes on after %v", LeaveWithin)
		}
	})
}

// The command exists for the values of `millicore clean --on` only.
func TestTheCommandThatCleans(t *testing.T) {
	for name, want := range map[string]string{
		"local": "; `millicore clean --on local` removes what is left",
		"given": "", // services that already ran
		"":      "",
	} {
		if got := Cleaning(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
