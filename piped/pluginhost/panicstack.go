// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"path"
	"slices"
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

// stageFrames reads the stack of a stage that went on though it was stopped, as our SDK or the Go runtime writes it at
// SIGQUIT. Without an id it is that of the stage which stands first.
func stageFrames(stage *string, all stackLines) []frame {
	id := ""
	if stage != nil {
		id = *stage
	} else if first := slices.IndexFunc(all.lines, func(line string) bool {
		return strings.HasPrefix(line, stackBegin)
	}); first >= 0 {
		id = strings.TrimSuffix(strings.TrimPrefix(all.lines[first], stackBegin), ":")
	}
	var read panicStack
	for _, line := range stageStack(id, all) {
		function, at, ours := strings.Cut(strings.TrimPrefix(line, "  "), " ")
		switch {
		case read.over || len(read.frames) >= maxFrames:
		case ours && strings.HasPrefix(line, "  "):
			read.frames = append(read.frames, frame{function, at})
		default:
			read.see(line)
		}
	}
	return read.frames
}

// shown are the first functions that are neither the Go runtime's nor generated for the protocol, each with its place.
func (s *panicStack) shown() (lines []string) {
	for _, f := range s.frames {
		if !f.ofRuntime() && !inPackage(f.pkg(), apiPackage) && len(lines) < shownFrames {
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
		case f.ofRuntime() || inPackage(of, sdkPackage) || inPackage(of, apiPackage):
		case of == "main" || inPackage(of, module):
			return f.placeIn(module)
		case elsewhere == "" && strings.Contains(strings.SplitN(of, "/", 2)[0], "."):
			elsewhere = f.placeIn("")
		}
	}
	return elsewhere
}

// sdkPackage is that of our SDK, apiPackage has the code generated for it: an author looks for the code that uses them.
const (
	sdkPackage = "github.com/pipedeck/pipedeck/plugins/sdk"
	apiPackage = "github.com/pipedeck/pipedeck/api"
)

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
