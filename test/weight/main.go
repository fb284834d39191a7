// Command weight shows how heavy the project is, and refuses what makes it heavier
// unseen: a package above its number of lines, prose in packages that judge, an import
// that runs back up between the floors of docs/architecture.md.
//
// It prints one line: the lines of code and of tests and the words of the docs, each
// with its change against the last commit on main. It reads the files that git tracks
// in the current folder, and exits with 1 if it refused something.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "weight:", err)
		os.Exit(1)
	}
}

func run() error {
	now, err := tracked()
	if err != nil {
		return err
	}
	before, err := committed("main")
	if err != nil { // a checkout without the branch, as in CI
		if before, err = committed("HEAD"); err != nil {
			return err
		}
	}
	fmt.Println(change(weigh(before), weigh(now)))
	refused, err := refuse(before, now)
	if err != nil {
		return err
	}
	for _, line := range refused {
		fmt.Println(line)
	}
	if len(refused) > 0 {
		return fmt.Errorf("%d refused; docs/architecture.md has the floors, test/weight/ceilings.txt the bounds", len(refused))
	}
	return nil
}

// refuse returns what is too heavy, in the words for a person.
func refuse(before, now files) ([]string, error) {
	page, ok := now["docs/architecture.md"]
	if !ok {
		return nil, errors.New("docs/architecture.md, which names the floors, does not exist here: start it in the project's folder")
	}
	floors, err := parseFloors(string(page))
	if err != nil {
		return nil, err
	}
	tree, err := parseTree(now)
	if err != nil {
		return nil, err
	}
	earlier, err := parseCeilings(before[ceilingsFile])
	if err != nil {
		return nil, err
	}
	bounds, err := parseCeilings(now[ceilingsFile])
	if err != nil {
		return nil, err
	}
	return slices.Concat(risen(earlier, bounds), tree.heavy(bounds), tree.upward(floors)), nil
}
