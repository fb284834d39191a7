package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const kernelRecords = `6,1,1000000,-;Linux version 6.18
4,1206,89000000,-;python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
 SUBSYSTEM=none
6,1207,90000000,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0,oom_memcg=/a,task_memcg=/a/b\x5cx2d1,task=python3,pid=123,uid=0
6,1208,91000000,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=a,mems_allowed=0,global_oom,task_memcg=/a,task=java,pid=124,uid=0
6,1209,95000000,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a,task=a, b,pid=125,uid=1000
6,1210,999000000,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0,oom_memcg=/a,task_memcg=/a,task=later,pid=126,uid=0
6,x,y;oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/a,task=x,pid=1,uid=0
`

func TestParseKills(t *testing.T) {
	want := []Kill{{5 * time.Second, "a, b", 125, "/a"}, {10 * time.Second, "python3", 123, `/a/b\x2d1`}}
	if diff := cmp.Diff(want, parseKills([]byte(kernelRecords), 100*time.Second)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := parseKills(nil, time.Second); got == nil || len(got) != 0 {
		t.Errorf("of nothing: got %v, want an empty list", got)
	}
}

// A restarted container of a pod is in another group, and its counters are new: the log
// and the kubelet's files have its history.
func TestHistoryOfAContainer(t *testing.T) {
	const uid, id = "7d9f0000-1111-2222-3333-444455556666", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	group := "/kubepods/pod" + uid + "/" + id
	h := newTree(t)
	h.group(group, 1, 100, 10)
	h.process(10, 1, "java", group, "/bin/java", "java")
	h.write("proc/10/environ", "HOSTNAME=node-7\x00") // as with the host's network
	h.write("proc/uptime", "100.00 1.00\n")
	h.write("dev/kmsg", strings.ReplaceAll(kernelRecords, "task_memcg=/a,", "task_memcg=/kubepods/pod"+uid+"/"+strings.Repeat("f", 64)+","))
	link := filepath.Join(h.root, "var/log/containers/cart_shop_api-"+id+".log")
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/var/log/pods/shop_cart_"+uid+"/api/4.log", link); err != nil {
		t.Fatal(err)
	}
	p := h.scan(Only{}).Processes[0]
	if p.Restarts == nil || p.Restarts.Count != 4 {
		t.Errorf("restarts: got %+v, want 4", p.Restarts)
	}
	if p.Namespace != "shop" || p.PodContainer != "api" || p.Container != "cart" {
		t.Errorf("its name: got %q in %q of %q, want api in cart of shop", p.PodContainer, p.Container, p.Namespace)
	}
	if len(p.Kills) != 1 || p.Kills[0].PID != 125 || p.Kills[0].Ago != 5*time.Second {
		t.Errorf("kills: got %+v, want that of the pod", p.Kills)
	}
}

func TestParseRestarts(t *testing.T) {
	r, err := parseRestarts(strings.NewReader(`{"RestartCount": 2, "State": {"OOMKilled": true, "Running": true}}`))
	if err != nil || *r != (Restarts{Count: 2, OutOfMemory: true}) {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, text := range []string{"{", "{}"} {
		if r, err := parseRestarts(strings.NewReader(text)); err == nil {
			t.Errorf("%s: got %+v", text, r)
		}
	}
}
