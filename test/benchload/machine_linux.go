package main

import (
	"debug/buildinfo"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"

	"golang.org/x/sys/unix"
)

// shuffled are the jobs of a round in a random order, which is the same in each
// measurement.
func shuffled(jobs []job, round int) []job {
	rand.New(rand.NewPCG(1, uint64(round))).Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	return jobs
}

func machine() facts {
	f := facts{CPUs: runtime.NumCPU(), Go: runtime.Version(), Arch: runtime.GOARCH}
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		f.Model = parseModel(string(data))
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		f.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	return f
}

var versionNumber = regexp.MustCompile(`\d+\.\d+(\.\d+)?`)

// ask are the version flags of programs that are not written in Go.
var ask = map[string]string{"nginx": "-v", "wrk": "-v", "ab": "-V", "h2load": "--version", "oha": "--version", "millicore": "--version"}

// version is a program's version; "" if the program does not print it.
func version(name, path string) string {
	flag, asked := ask[name]
	if !asked {
		if info, err := buildinfo.ReadFile(path); err == nil {
			return versionNumber.FindString(info.Main.Version)
		}
		return ""
	}
	out, _ := exec.Command(path, flag).CombinedOutput() // wrk exits with 1
	if name == "millicore" {
		return regexp.MustCompile(`version (\S+)`).ReplaceAllString(string(regexp.MustCompile(`version \S+`).Find(out)), "$1")
	}
	return versionNumber.FindString(string(out))
}
