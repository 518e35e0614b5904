// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package system is the room for what our programs need from the operating system and Go's library does not offer.
// It holds no code itself; each package in it serves one noun:
//
//   - processtree: programs with all their descendants
//   - owned: files and directories of the user who runs the program
//   - peeruser: the user at the other end of a connection over loopback
//   - exhaustion: the next step when the system has run out of a resource
//   - filewatch: watches of directories and files, within a bound
//   - connlimit: what callers can occupy before a server trusts them
//   - clock: the clock, which tests replace, and the pauses between tries
//   - gittest, filetest, logtest: repositories, files and logs of tests
//   - buildtest, chantest: programs that tests build and start, and what tests receive within a bound
//
// The packages import nothing else of ours, so the agent, the plugins, the development environment and the commands
// may all import them. What differs between Linux and macOS is in files named for the system.
package system
