// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package decktest

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Crashed is an example of a plugin under development: it runs its third build, and has crashed twice.
func Crashed() *deckv1.Plugin {
	build := func(hash, version string, at float64) *deckv1.PluginBuild {
		return &deckv1.PluginBuild{Hash: hash, BuiltAt: At(at), Version: version}
	}
	return &deckv1.Plugin{
		Name: "greeter", State: deckv1.Plugin_STATE_RUNNING, Pid: 20200, StartedAt: At(30), RssBytes: 12 << 20,
		Stages: []string{"GREET"}, Version: "v0.2.0", Build: build("4c1f0e9a2b7d", "v0.2.0", 29),
		Restarts: 4, Reloads: 2, Crashes: 2,
		Exits: []*deckv1.PluginExit{{
			At: At(10), Reason: "exited with code 1", Error: "no such moon", Build: build("99b2f0e9a2b7", "", 2),
			Pid: 20150, Uptime: durationpb.New(1200 * time.Millisecond),
		}, {
			At: At(20), Reason: "exited with code 2", Error: "panic: assignment to entry in nil map",
			Place: "stage.go:31",
			Stack: []string{"main.(*greeter).work /src/greeter/stage.go:31", "main.run /src/greeter/main.go:12"},
			Build: build("0aa1f0e9a2b7", "v0.2.0", 15), Pid: 20151, Uptime: durationpb.New(5 * time.Second),
		}},
	}
}
