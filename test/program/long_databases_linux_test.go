package program

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
)

// The database is killed in the middle of each trial, including repeated ones.
func TestADatabaseIsKilledDuringTheLoad(t *testing.T) {
	for _, builtin := range []string{"postgres", "mongodb"} {
		t.Run(builtin, func(t *testing.T) {
			needDatabase(t, builtin)
			dir, c := databaseCommand(t, builtin, "{warmup: 0s, duration: 4s, repeats: 2, interval: 200ms}")
			start(t, c)
			ended := make(chan struct{})
			var ran error
			go func() { ran = c.Wait(); close(ended) }()
			trials := 0
			for waitForTrial(t, dir, trials+1, ended) {
				trials++
				group := unitGroup(t, c, fmt.Sprintf("trial%03d-%s", trials, builtin))
				server := slices.Concat(members(t, group, "postgres", "-D"), members(t, group, "millicore-mongodb", ""), members(t, group, "mongod", ""))
				if len(server) != 1 {
					t.Fatalf("servers of trial %d: %v", trials, server)
				}
				if err := syscall.Kill(server[0], syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			<-ended
			if ran != nil || trials < 2 {
				t.Fatalf("%d trials ran, %v", trials, ran)
			}
			nothingLeft(t, c.Process.Pid)
			noData(t, dir)
			s := report(t, dir)
			cell := s.Cells[0]
			if cell.Trials != 2 || *cell.Availability >= 100 || *cell.Availability == 0 {
				t.Errorf("%d trials, availability %v: want 2, and between 0 and 100", cell.Trials, *cell.Availability)
			}
			if *cell.Dependencies[0].Restarts < 2 || !slices.Contains(cell.Flags, "dependency_restarted") {
				t.Errorf("restarts %d, flags %v", *cell.Dependencies[0].Restarts, cell.Flags)
			}
			if *cell.Restarts != 0 {
				t.Errorf("the service was restarted %d times", *cell.Restarts)
			}
		})
	}
}
