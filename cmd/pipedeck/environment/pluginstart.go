// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// pluginStartFlag is the flag for the time that a plugin has to answer after its start.
const pluginStartFlag = "plugin-start-timeout"

// Bounds of the flag: no program starts faster than the least, and a deployment ends before the most.
const (
	leastPluginStart = time.Second
	mostPluginStart  = time.Hour
)

// ownPluginStart reports whether the flag has another value than its default.
func ownPluginStart(timeout time.Duration) bool {
	return timeout != 0 && timeout != pluginhost.DefaultStartTimeout
}

// checkPluginStart checks the flag. piped is that of --piped, empty for the included one.
func checkPluginStart(timeout time.Duration, piped string) error {
	switch {
	case !ownPluginStart(timeout):
		return nil
	case piped != "":
		return exit.Usage(errors.New("--"+pluginStartFlag+" needs the included piped"),
			"leave out --piped or --"+pluginStartFlag)
	case timeout < leastPluginStart || timeout > mostPluginStart:
		return exit.Usage(fmt.Errorf("--%s is %s; it has to be from %s to %s", pluginStartFlag, timeout,
			leastPluginStart, mostPluginStart), "give it like: --"+pluginStartFlag+" 2m")
	}
	return nil
}
