package examine

import (
	"testing"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/show/diagnosis"
)

// A process that could not be read does not look healthy, unless it has no limit.
func TestVerdict(t *testing.T) {
	host := func(state inspect.State, unseen ...string) inspect.Host {
		return inspect.Host{Processes: []inspect.Process{{PID: 7, CPU: inspect.CPULimit{State: state}, Unseen: unseen}}}
	}
	warning := []doctor.Finding{{Level: doctor.Warning}}
	for _, test := range []struct {
		name     string
		host     inspect.Host
		findings []doctor.Finding
		level    doctor.Level
		want     error
	}{
		{"healthy", host(inspect.Limited), nil, doctor.Warning, nil},
		{"mis-sized", host(inspect.Limited), warning, doctor.Warning, exit.NotMet(exit.Missed)},
		{"below the level", host(inspect.Limited), warning, doctor.Critical, nil},
		{"not read", host(inspect.Limited, "its environment could not be read"), nil, doctor.Warning, exit.NotMet(exit.Undecided)},
		{"not read, and a finding below the level", host(inspect.Limited, "x"), warning, doctor.Critical, exit.NotMet(exit.Undecided)},
		{"not read, and mis-sized", host(inspect.Limited, "x"), warning, doctor.Warning, exit.NotMet(exit.Missed)},
		{"the limit is not known", host(inspect.Unknown, "its CPU limit could not be read"), nil, doctor.Warning, exit.NotMet(exit.Undecided)},
		{"without a limit", host(inspect.Unlimited, "its environment could not be read"), nil, doctor.Warning, nil},
	} {
		if got := verdict(diagnosis.Unread(test.host), test.findings, test.level); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}
