// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command pipedeck brings up a local environment for piped and shows it in a terminal.
//
// Package root assembles the commands, which live in the packages next to it, one file for each: environment runs an
// environment, inspect reads it, action asks it to act; more stands for the packages configuration and plugin, which
// the program pipedeck-more has. What each command does, its flags and exit codes are a contract that scripts rely on:
// errors go to standard error and end with the next step.
package main

import (
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/root"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/scaffold/archive"
)

func main() { exit.Main(root.Program{SDK: archive.SDK}.Run) }
