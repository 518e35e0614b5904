// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"path"
	"regexp"
	"strings"
)

var (
	pythonFrame = regexp.MustCompile(`^\s*File "([^"]+)", line (\d+)`)
	pythonError = regexp.MustCompile(`^[A-Za-z_][\w.]*(: |$)`)
	nodeFrame   = regexp.MustCompile(`^    at(?: .*\(| )(?:file://)?(/[^\s():]+):(\d+):\d+\)?$`)
	nodeError   = regexp.MustCompile(`^(?:Uncaught )?[A-Z]\w*(?: \[\w+\])?: `)
)

// libraries are parts of the paths of files that are not the author's.
var libraries = []string{"/node_modules/", "/site-packages/", "/dist-packages/", "/lib/python"}

// uncaught picks the error out of the last lines of a process in Python or Node that it has ended, and its first place
// in the author's code; both are empty for none.
func uncaught(lines []string) (what, place string) {
	if len(lines) == 0 {
		return "", ""
	}
	if last := len(lines) - 1; strings.HasPrefix(lines[last], "Node.js v") {
		return uncaughtInNode(lines[:last])
	}
	return uncaughtInPython(lines)
}

// uncaughtInPython reads frames, the outermost first, in front of the error.
func uncaughtInPython(lines []string) (what, place string) {
	last := len(lines) - 1
	if !pythonError.MatchString(lines[last]) || last == 0 || !strings.HasPrefix(lines[last-1], " ") {
		return "", ""
	}
	framed := false
	for i := last - 1; i >= 0 && strings.HasPrefix(lines[i], " "); i-- {
		frame := pythonFrame.FindStringSubmatch(lines[i])
		framed = framed || frame != nil
		if frame != nil && place == "" && isAuthors(frame[1]) {
			place = path.Base(frame[1]) + ":" + frame[2]
		}
	}
	if !framed {
		return "", ""
	}
	return lines[last], place
}

// uncaughtInNode reads frames, the innermost first, behind the error.
func uncaughtInNode(lines []string) (what, place string) {
	for _, line := range lines {
		frame := nodeFrame.FindStringSubmatch(line)
		switch {
		case nodeError.MatchString(line):
			what, place = strings.TrimPrefix(line, "Uncaught "), ""
		case what != "" && place == "" && frame != nil && isAuthors(frame[1]):
			place = path.Base(frame[1]) + ":" + frame[2]
		}
	}
	return what, place
}

func isAuthors(file string) bool {
	for _, library := range libraries {
		if strings.Contains(file, library) {
			return false
		}
	}
	return path.IsAbs(file)
}
