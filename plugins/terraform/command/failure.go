// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"
)

// maxSaid bounds what an error has of the output, in bytes.
const maxSaid = 16 << 10

// ErrNotBegun is in the error of a program that has changed nothing: it was not started, or did not get the lock of the
// state.
var ErrNotBegun = errors.New("nothing was begun")

// Failure is a command that failed. It is ErrNotBegun where the program did not get the lock of the state.
type Failure struct {
	// Command is its name: "plan".
	Command string
	// How is "exit status 1".
	How string
	// Said is the end of what the program wrote.
	Said string
	// Signal is the one that ended the program; 0 for none.
	Signal syscall.Signal
	// Changes is whether the command changes something.
	Changes bool
	// Shown is whether the log has what the program wrote, so that the error does not repeat it.
	Shown bool
}

// Error has the first error of the program in its first line, which becomes the reason of a stage, or who holds the
// lock when that is the reason. What the program wrote follows where no log has it.
func (f *Failure) Error() string {
	if lock, held := f.Lock(); held {
		return fmt.Sprintf("%s: the state is locked by %s since %s for %s (lock %s)\n"+
			"next step: wait for it to end, or set a longer lockTimeout; if no one works with the state any more, "+
			"run: tofu force-unlock %s", f.Command, lock.Who, lock.Created, lock.Operation, lock.ID, lock.ID)
	}
	said := strings.TrimSpace(plain(f.Said))
	if f.Signal != 0 {
		return f.killed(said)
	}
	first, more := firstDiagnostic(f.Said)
	switch {
	case said == "":
		return fmt.Sprintf("%s failed: %s", f.Command, f.How)
	case first == nil && f.Shown:
		return fmt.Sprintf("%s failed: %s", f.Command, said[strings.LastIndexByte(said, '\n')+1:])
	case first == nil:
		return fmt.Sprintf("%s failed: %s", f.Command, said)
	}
	text := fmt.Sprintf("%s failed: %s", f.Command, first)
	if more > 0 {
		text += fmt.Sprintf(" (and %d more in the log)", more)
	}
	if f.Shown || said == first.head() {
		return text
	}
	return text + "\n" + said
}

// lacking is what a program leaves behind that was ended while it changes something, with the next step.
const lacking = "the state may lack what it has done\nnext step: check the memory of the machine, compare the " +
	"resources of the provider with `tofu state list`, import what the state lacks, then deploy again"

// killed is the error of a program that a signal has ended: its last words are not the reason.
func (f *Failure) killed(said string) string {
	text := fmt.Sprintf("%s was ended by signal %s", f.Command, f.Signal)
	if f.Changes {
		text += "; " + lacking
	}
	if f.Shown || said == "" {
		return text
	}
	return text + "\n" + said
}

// Is makes a program that did not get the lock an ErrNotBegun.
func (f *Failure) Is(target error) bool { return target == ErrNotBegun && f.refused() }

// refused is whether the program did not get the lock of the state.
func (f *Failure) refused() bool {
	first, _ := firstDiagnostic(f.Said)
	return first != nil && first.Summary == lockError
}

// Stale is whether the program refused a saved plan because the state is another one now.
func (f *Failure) Stale() bool { return strings.Contains(f.Said, "Saved plan is stale") }

const (
	// lockError is the message of a program that does not get the lock of a state.
	lockError = "Error acquiring the state lock"
	// acquiring is what it writes while it waits for the lock.
	acquiring = "Acquiring state lock"
	// frame has what stands before a message.
	frame = "╷│ \r\n"
)

// Refuses is whether output, or the beginning of it, says nothing but that the program does not get the lock of the
// state.
func Refuses(output string) bool {
	output = strings.TrimLeft(output, frame)
	for strings.HasPrefix(output, acquiring) {
		_, output, _ = strings.Cut(output, "\n")
		output = strings.TrimLeft(output, frame)
	}
	output = strings.TrimPrefix(output, "Error: ")
	return strings.HasPrefix(output, lockError) || strings.HasPrefix(lockError, output)
}

// Acquires is whether one line is of a program that waits for the lock of the state.
func Acquires(line string) bool {
	return strings.HasPrefix(line, acquiring) && strings.Count(line, "\n") <= 1
}

// Lock is who holds the lock of a state.
type Lock struct{ ID, Path, Operation, Who, Created string }

// String says who holds it, since when and what for, and what to do when no one does any more.
func (l Lock) String() string {
	return fmt.Sprintf("locked by %s since %s for %s (lock %s)\n"+
		"next step: wait for it to end; if no one works with the state any more, run: tofu force-unlock %s",
		l.Who, l.Created, l.Operation, l.ID, l.ID)
}

var lockLine = regexp.MustCompile(`(?m)^[│ ]*(ID|Path|Operation|Who|Created): +(\S.*?) *$`)

// Lock returns the owner of the lock that the command did not get.
func (f *Failure) Lock() (Lock, bool) {
	if !f.refused() {
		return Lock{}, false
	}
	var lock Lock
	for _, match := range lockLine.FindAllStringSubmatch(f.Said, -1) {
		switch match[1] {
		case "ID":
			lock.ID = match[2]
		case "Path":
			lock.Path = match[2]
		case "Operation":
			lock.Operation = match[2]
		case "Who":
			lock.Who = match[2]
		case "Created":
			lock.Created = match[2]
		}
	}
	return lock, lock.ID != ""
}

// plain leaves out the frames of messages.
func plain(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case strings.HasPrefix(line, "╷"), strings.HasPrefix(line, "╵"):
			continue
		case strings.HasPrefix(line, "│"):
			line = strings.TrimPrefix(strings.TrimPrefix(line, "│"), " ")
		}
		if line == "" && (len(lines) == 0 || lines[len(lines)-1] == "") {
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
