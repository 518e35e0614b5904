// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package failpoint lets tests stop or kill piped at named places, so that what a crash leaves behind is
// tested at the moment in question and not by luck.
//
// Without terms a Set is nil, and hitting its points does nothing. Terms come from the environment
// variable PIPED_FAILPOINTS, which only cmd/piped reads, in the form
//
//	POINT=TERM[->TERM…][;POINT=…]
//	TERM is [COUNT*]ACTION, where COUNT is how often it counts before the next one does
//
// with the actions
//
//	off          goes on
//	error(TEXT)  fails with the text
//	kill         ends the process as SIGKILL does
//	hold(PATH)   opens the named pipe PATH for reading and goes on at its end
//
// The last term counts for ever; after one with a count the point is off. A test that opens the pipe for
// writing knows that the point was reached, and lets piped go on by closing it.
package failpoint
