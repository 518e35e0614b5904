// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"path"
	"strings"
)

const (
	// maxFrames bounds what is read of a stack, shownFrames what is shown of it.
	maxFrames   = 64
	shownFrames = 8
)

// panicStack is the stack of the goroutine that ended a process, as the Go runtime writes it after a fatal error: a
// line for the goroutine, then two for each function, of which the second has the place.
type panicStack struct {
	// message is the first line of the error.
	message string
	frames  []frame
	// function waits for its place.
	function string
	// begun is set within the stack, over behind it.
	begun, over bool
}

// frame is a function on a stack, and where it was: "/src/stage.go:31".
type frame struct{ function, at string }

// see takes a line that follows the beginning of the error.
func (s *panicStack) see(line string) {
	place, indented := strings.CutPrefix(line, "\t")
	switch {
	case s.over:
	case strings.HasPrefix(line, "goroutine "):
		s.begun, s.over = true, s.begun // the next goroutine
	case !s.begun:
	case indented && s.function != "":
		at, _, _ := strings.Cut(place, " ")
		s.frames = append(s.frames, frame{s.function, at})
		s.function, s.over = "", len(s.frames) >= maxFrames
	case strings.HasPrefix(line, "created by "):
		s.over = true
	default:
		if arguments := strings.LastIndexByte(line, '('); arguments > 0 {
			s.function = line[:arguments]
		}
	}
}

// shown are the first functions that are not the Go runtime's, each with its place.
func (s *panicStack) shown() (lines []string) {
	for _, f := range s.frames {
		if !f.ofRuntime() && len(lines) < shownFrames {
			lines = append(lines, f.function+" "+f.at)
		}
	}
	return lines
}

// place is the first place in the code of the program's own module, as file:line below it. Without one it is that of
// the first library that is neither Go's nor our SDK; empty for none.
func (s *panicStack) place(module string) string {
	elsewhere := ""
	for _, f := range s.frames {
		of := f.pkg()
		switch {
		case f.ofRuntime() || inPackage(of, sdkPackage):
		case of == "main" || inPackage(of, module):
			return f.placeIn(module)
		case elsewhere == "" && strings.Contains(strings.SplitN(of, "/", 2)[0], "."):
			elsewhere = f.placeIn("")
		}
	}
	return elsewhere
}

// sdkPackage is that of our SDK: an author looks for the code that uses it.
const sdkPackage = "github.com/pipedeck/pipedeck/plugins/sdk"

func (f frame) ofRuntime() bool {
	return f.function == "panic" || inPackage(f.pkg(), "runtime") || inPackage(f.pkg(), "internal/runtime")
}

// pkg is the path of the package of the function.
func (f frame) pkg() string {
	slash := strings.LastIndexByte(f.function, '/') + 1
	name, _, _ := strings.Cut(f.function[slash:], ".")
	return f.function[:slash] + name
}

// placeIn names the file with its directory in the module.
func (f frame) placeIn(module string) string {
	file := path.Base(f.at)
	if of := f.pkg(); of != "main" && of != module {
		file = path.Join(strings.TrimPrefix(of, module+"/"), file)
	}
	return file
}

// inPackage reports whether a package is one, or below it.
func inPackage(of, one string) bool {
	return one != "" && (of == one || strings.HasPrefix(of, one+"/"))
}
