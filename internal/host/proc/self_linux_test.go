package proc

import "testing"

func TestThisProcessIsRead(t *testing.T) {
	stat, err := ReadStat(1)
	if err != nil || stat.Parent != 0 || stat.Started == 0 && stat.Name == "" {
		t.Errorf("process 1: %+v, %v", stat, err)
	}
	if _, err := ReadStat(1 << 30); err == nil {
		t.Error("a process that cannot exist was read")
	}
	if BootID() == "" {
		t.Errorf("boot %q", BootID())
	}
}
