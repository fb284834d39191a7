// Package junit writes results as JUnit XML, which CI systems show: each objective,
// claim and bound is a test case. The files are valid under the schema of Apache Ant's
// JUnit task, which is the strictest one in use, and under that of Jenkins.
//
// The package judges nothing: outcomes are those of analysis, words those of narrative.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
)

// Outcome of a test case.
type Outcome int

// The outcomes. A case that could not be decided is Skipped: CI systems show it, and do
// not fail by it.
const (
	Passed Outcome = iota
	Failed
	Skipped
	Errored // the condition could not be tested: the measurement was not valid
)

// Suite is the test cases of one record.
type Suite struct {
	Name       string // of the experiment
	Started    time.Time
	Seconds    float64
	Properties [][2]string // names and values
	Cases      []Case
}

// Case is one condition and its outcome.
type Case struct {
	Class   string // what kind of condition: "objective", "claim", "bound"
	Name    string
	Outcome Outcome
	Why     string // what the outcome rests on
}

// The elements, in the order that the schema requires. system-out and system-err are
// required too, and empty.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []suite  `xml:"testsuite"`
	}
	suite struct {
		Name       string     `xml:"name,attr"`
		Package    string     `xml:"package,attr"`
		ID         int        `xml:"id,attr"`
		Timestamp  string     `xml:"timestamp,attr"` // without a zone, which the schema does not allow
		Hostname   string     `xml:"hostname,attr"`
		Tests      int        `xml:"tests,attr"`
		Failures   int        `xml:"failures,attr"`
		Errors     int        `xml:"errors,attr"`
		Skipped    int        `xml:"skipped,attr"`
		Time       string     `xml:"time,attr"`
		Properties properties `xml:"properties"`
		Cases      []testcase `xml:"testcase"`
		Out        string     `xml:"system-out"`
		Err        string     `xml:"system-err"`
	}
	properties struct {
		All []property `xml:"property"`
	}
	property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	testcase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"`
		Skipped *skipped `xml:"skipped"`
		Error   *failure `xml:"error"`
		Failure *failure `xml:"failure"`
	}
	skipped struct {
		Message string `xml:"message,attr"`
	}
	failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// Write writes suites as one document.
func Write(w io.Writer, all []Suite) error {
	doc := suites{Suites: []suite{}}
	for i := range all {
		doc.Suites = append(doc.Suites, all[i].element(i))
	}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	if err != nil {
		return fmt.Errorf("write the JUnit XML: %w", err)
	}
	return nil
}

func (s *Suite) element(id int) suite {
	out := suite{Name: token(s.Name), Package: "millicore", ID: id, Timestamp: s.Started.UTC().Format("2006-01-02T15:04:05"),
		Hostname: "localhost", Tests: len(s.Cases), Time: strconv.FormatFloat(s.Seconds, 'f', 3, 64)}
	for _, p := range s.Properties {
		out.Properties.All = append(out.Properties.All, property{token(p[0]), display.Plain(p[1])})
	}
	for _, c := range s.Cases {
		one := testcase{Name: token(c.Name), Class: token(s.Name + "." + c.Class), Time: "0"}
		switch why := display.Plain(c.Why); c.Outcome {
		case Failed:
			out.Failures++
			one.Failure = &failure{Message: why, Type: c.Class, Text: why}
		case Errored:
			out.Errors++
			one.Error = &failure{Message: why, Type: c.Class, Text: why}
		case Skipped:
			out.Skipped++
			one.Skipped = &skipped{Message: why}
		}
		out.Cases = append(out.Cases, one)
	}
	return out
}

// token is a text without spaces at its ends and in a row, as the schema's type token
// has it, and never empty.
func token(text string) string {
	if text = strings.Join(strings.Fields(display.Plain(text)), " "); text == "" {
		return "unnamed"
	}
	return text
}
