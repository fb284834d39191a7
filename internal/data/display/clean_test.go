package display

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanShowsWhatATerminalWouldObey(t *testing.T) {
	for in, want := range map[string]string{
		"plain – text\n\twith lines": "plain – text\n\twith lines",
		"\x1b[31mred\x1b[0m":         "␛[31mred␛[0m",
		"title \x1b]0;x\a and more":  "title ␛]0;x␇ and more",
		"\x1b]8;;without an end":     "␛]8;;without an end",
		"over\rwritten":              "over␍written",
		"a line of Windows\r\nb":     "a line of Windows\nb",
		"back\b\b\x7f":               "back␈␈␡",
		"\u009b31m":                  "<U+009B>31m",
		"\x9b31m \xff":               `\x9b31m \xff`,
		"abc\u202edef\u2066":         "abc<U+202E>def<U+2066>",
		"\u2028\ufeff\u200b":         "<U+2028><U+FEFF><U+200B>",
		"\ufffd stays":               "\ufffd stays",
		"\x00":                       "␀",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzCleanLeavesNothingToObey(f *testing.F) {
	for _, text := range []string{"go", "\x1b[31mred", "a\r\nb", "\u2028", "\x9b31m", "\xff", "\ufffd\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text)
		for _, r := range got {
			if unfit(r) && r != utf8.RuneError {
				t.Errorf("Clean(%q) = %q", text, got)
			}
		}
		if again := Clean(got); !utf8.ValidString(got) || again != got {
			t.Errorf("Clean(%q) = %q, and of that %q", text, got, again)
		}
	})
}

func TestJSONHasTheSameValueWithoutUnfitCharacters(t *testing.T) {
	for _, text := range []string{"plain – text", "\u009b31m\u202e\u007f\u2028", "\U000e0041", "\x1b[31m\r\n\t", "<b>&"} {
		var out bytes.Buffer
		if err := WriteJSON(&out, map[string]string{"text": text}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(out.String(), unfit) {
			t.Errorf("%q has unfit characters", out.String())
		}
		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["text"] != text {
			t.Errorf("%q: %q, %v", text, back["text"], err)
		}
	}
}

func TestASheetComputesNoCell(t *testing.T) {
	for in, want := range map[string]string{
		"go procs=1":         "go procs=1",
		"":                   "",
		"=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
		"+1+cmd":             "'+1+cmd",
		"-2+3":               "'-2+3",
		"@SUM(A1)":           "'@SUM(A1)",
		"\t=1+1":             "' =1+1",
		"\r=1+1":             "␍=1+1",
		"\n=1+1":             "' =1+1",
		"  =1+1":             "'  =1+1",
		"\x1b[0m=1+1":        "␛[0m=1+1",
		"\u200b=1+1":         "<U+200B>=1+1",
		"＝1+1":               "'＝1+1",
		"-":                  "'-",
		"-5":                 "-5",
		"+0.25":              "+0.25",
		"-1.5e-3":            "-1.5e-3",
		"-1e":                "'-1e",
		"a\x1b]0;t\ab":       "a␛]0;t␇b",
	} {
		if got := SheetCell(in); got != want {
			t.Errorf("SheetCell(%q) = %q, want %q", in, got, want)
		}
	}
}
