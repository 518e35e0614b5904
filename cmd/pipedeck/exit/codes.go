// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

// Meaning is what an exit code says to a script.
type Meaning struct {
	Number  int
	Meaning string
}

// Codes returns the exit codes of all commands.
func Codes() []Meaning {
	return []Meaning{
		{OK, "all well"},
		{Failed, "a deployment failed or was cancelled, or the environment refused"},
		{WrongUsage, "wrong usage or configuration"},
		{NotStarted, "the environment could not start, does not run or does not answer"},
		{TimedOut, "timed out"},
		{Degraded, "a part of the environment does not work as it should"},
		{Unwritten, "the output could not be written, for example to a full disk"},
		{Interrupted, "interrupted"},
		{ReaderGone, "the program that reads the output, such as `head`, has ended; nothing is printed about it"},
	}
}
