// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import "strings"

// Level is how much a line matters, as its program says.
type Level uint8

// The levels. A line that names none is Normal; Source is the text of a script, before what the script writes.
const (
	Source Level = iota
	Debug
	Normal
	Warn
	Failure
	levelCount
)

// levelWords are the words for levels, in lower case.
var levelWords = map[string]Level{
	"trace": Debug, "debug": Debug, "dbg": Debug,
	"info": Normal, "notice": Normal,
	"warn": Warn, "warning": Warn,
	"error": Failure, "err": Failure, "fatal": Failure, "critical": Failure, "panic": Failure, "alert": Failure,
	"emergency": Failure, "dpanic": Failure,
}

// longestLevel is the length of the longest of levelWords.
const longestLevel = len("emergency")

// leadBytes is how much of a line is searched for a level: what a message says later is no level.
const leadBytes = 80

// LevelOf recognises the level of a line of text: a field "level" of JSON or of key=value, the header of klog
// ("E1123 14:…"), or a word such as WARN, [error] or "panic:" near the start. found is false when the line names
// none.
func LevelOf(text string) (level Level, found bool) {
	text = strings.TrimLeft(text, " ")
	if text == "" {
		return Normal, false
	}
	if text[0] == '{' {
		return fieldLevel(text, `"level":`, `"severity":`, `"lvl":`)
	}
	if level, found = klogLevel(text); found {
		return level, true
	}
	lead := text[:min(len(text), leadBytes)]
	if strings.IndexByte(lead, '=') >= 0 {
		if level, found = fieldLevel(lead, "level=", "lvl=", "severity="); found {
			return level, true
		}
	}
	return wordLevel(lead)
}

// fieldLevel is the level in the first of the fields that the line has.
func fieldLevel(text string, fields ...string) (Level, bool) {
	for _, field := range fields {
		_, value, found := strings.Cut(text, field)
		if !found {
			continue
		}
		value = strings.TrimLeft(value, ` "`)
		end := 0
		for end < len(value) && isLetter(value[end]) {
			end++
		}
		if level, known := levelWords[strings.ToLower(value[:min(end, 16)])]; known {
			return level, true
		}
		// Loggers of Node.js count: 30 is info, 40 warn, 50 error.
		if len(value) > 1 && value[1] == '0' && value[0] >= '1' && value[0] <= '6' {
			return [...]Level{Debug, Debug, Normal, Warn, Failure, Failure}[value[0]-'1'], true
		}
	}
	return Normal, false
}

// klogLevel is that of the header of Kubernetes' logs: a letter, month and day.
func klogLevel(text string) (Level, bool) {
	if len(text) < 6 || text[5] != ' ' {
		return Normal, false
	}
	for i := 1; i < 5; i++ {
		if text[i] < '0' || text[i] > '9' {
			return Normal, false
		}
	}
	level, found := map[byte]Level{'I': Normal, 'W': Warn, 'E': Failure, 'F': Failure}[text[0]]
	return level, found
}

// wordLevel looks for a word that stands for a level: in capital letters or in brackets anywhere, else in front of a
// colon at the start.
func wordLevel(lead string) (Level, bool) {
	for from := 0; from < len(lead); {
		if !isLetter(lead[from]) {
			from++
			continue
		}
		end, capitals := from, true
		for end < len(lead) && isLetter(lead[end]) {
			capitals = capitals && lead[end] <= 'Z'
			end++
		}
		bracketed := from > 0 && lead[from-1] == '[' && end < len(lead) && lead[end] == ']'
		first := from == 0 && end < len(lead) && lead[end] == ':'
		// Hardly any word stands as a level does, so few are looked up.
		if (capitals || bracketed || first) && end-from <= longestLevel && (end == len(lead) || !isWord(lead[end])) {
			if level, known := levelWords[strings.ToLower(lead[from:end])]; known {
				return level, true
			}
		}
		for end < len(lead) && isWord(lead[end]) {
			end++
		}
		from = end
	}
	return Normal, false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isWord(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= 0x80
}
