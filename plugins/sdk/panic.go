// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
)

// panicked is the error of a panic; it is called while that is recovered from. The first line is for users, the frames
// below it for the log.
func panicked(p any) error { return fmt.Errorf("%s\n%s", panicText(p), shownStack(panicFrames())) }

// shownFrames bounds the frames that a log has of a panic: a recursion without an end has many.
const shownFrames = 32

// shownStack has the frames of the author and of libraries, the innermost first, each with its place. Those of the Go
// runtime, of gRPC and of our SDK with the code generated for both, which are the same in each panic, are only counted.
func shownStack(frames []runtime.Frame) string {
	var lines []string
	folded, shown := 0, 0
	fold := func() {
		if folded > 0 {
			lines = append(lines, fmt.Sprintf("\t… %d of Go, gRPC and the SDK", folded))
		}
		folded = 0
	}
	for _, frame := range frames {
		switch of := packageOf(frame.Function); {
		case frame.Function == "" || isOurs(frame.Function) || inPackage(of, "runtime") || inPackage(of, "internal") ||
			inPackage(of, "google.golang.org/grpc") || inPackage(of, "github.com/pipedeck/pipedeck/api"):
			folded++
		case shown == shownFrames:
			fold()
			return strings.Join(append(lines, "\t… and more"), "\n")
		default:
			fold()
			shown++
			lines = append(lines, frame.Function, fmt.Sprintf("\t%s:%d", frame.File, frame.Line))
		}
	}
	fold()
	return strings.Join(lines, "\n")
}

// panicText says in its first line what the panic was, and where in the author's code; it is called while the panic is
// recovered from.
func panicText(p any) string {
	first, rest, more := strings.Cut(fmt.Sprint(p), "\n")
	text := "panic: " + first
	if place := placeOf(panicFrames()); place != "" {
		text += " at " + place
	}
	if more {
		text += "\n" + rest
	}
	return text
}

// maxFrames bounds the stack that is searched for the author's code.
const maxFrames = 256

// panicFrames are the frames that led to the panic that is recovered from, the innermost first. After a second panic
// in a deferred function they are those of the first.
func panicFrames() []runtime.Frame {
	callers := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	var list []runtime.Frame
	for {
		frame, more := frames.Next()
		list = append(list, frame)
		if frame.Function == "runtime.gopanic" {
			list = nil // what follows has panicked
		}
		if !more {
			return list
		}
	}
}

// placeOf is the first place in the author's code, as file:line below the author's module. Without one it is that of
// the first library that is neither Go's nor ours; empty for none.
func placeOf(frames []runtime.Frame) string {
	module := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		module = info.Main.Path
	}
	elsewhere := ""
	for _, frame := range frames {
		if isOurs(frame.Function) {
			break // what called our SDK is gRPC, or a test
		}
		of := packageOf(frame.Function)
		switch {
		case of == "main" || module != "" && inPackage(of, module):
			return placeIn(frame, module)
		case elsewhere == "" && strings.Contains(strings.SplitN(of, "/", 2)[0], "."):
			elsewhere = placeIn(frame, "")
		}
	}
	return elsewhere
}

// placeIn names the file of a frame with its directory in the module.
func placeIn(frame runtime.Frame, module string) string {
	file := path.Base(frame.File)
	if of := packageOf(frame.Function); of != "main" && of != module {
		file = path.Join(strings.TrimPrefix(of, module+"/"), file)
	}
	return fmt.Sprint(file, ":", frame.Line)
}

// packageOf is the path of the package of a function.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + name
}

// isOurs reports whether a function belongs to this SDK.
func isOurs(function string) bool {
	return inPackage(packageOf(function), "github.com/pipedeck/pipedeck/plugins/sdk")
}

// inPackage reports whether a package is one, or below it.
func inPackage(of, one string) bool { return of == one || strings.HasPrefix(of, one+"/") }
