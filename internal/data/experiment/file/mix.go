package file

import "strings"

// WithMix returns the text of an experiment whose load.mix names a file, with the requests that
// read gives of it instead of the name, in one line. Any other text stays unchanged. read also
// gets whether the text has load.session: true.
func WithMix(data []byte, read func(name string, session bool) ([]map[string]any, error)) ([]byte, error) {
	root := readTree(&problems{}, 0, data)
	if root == nil || root.kind != mapNode {
		return data, nil
	}
	mix := root.find("load.mix")
	if mix.kind != scalarNode || mix.text == "" {
		return data, nil
	}
	lines := strings.SplitAfter(string(data), "\n")
	line := &lines[mix.at.line-1]
	start := min(mix.at.column-1, len(*line))
	at := strings.Index((*line)[start:], mix.text)
	if at < 0 {
		return data, nil // not in this line: the error of a list that is none
	}
	at += start
	all, err := read(mix.text, root.find("load.session").text == "true")
	if err != nil {
		return nil, err
	}
	end := at + len(mix.text)
	if at > 0 && end < len(*line) && strings.IndexByte(`"'`, (*line)[at-1]) >= 0 && (*line)[end] == (*line)[at-1] {
		at, end = at-1, end+1
	}
	*line = (*line)[:at] + nodeOf(all, mix.at).flow() + (*line)[end:]
	return []byte(strings.Join(lines, "")), nil
}
