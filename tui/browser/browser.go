// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

var (
	// ErrNoDisplay says that no browser could be seen: a remote shell, or a machine without a screen.
	ErrNoDisplay = errors.New("there is no display to show a browser on")
	// ErrNoPage says that what answers at an address is nothing for a browser.
	ErrNoPage = errors.New("this is no address for a browser")
)

// missing is the shell's exit code for a command that is not there.
const missing = 127

// detached starts a command that outlives the shell, so that this process need not wait for the command.
const detached = `command -v "$1" >/dev/null || exit 127; "$@" </dev/null >/dev/null 2>&1 &`

// Open shows url with the variables of environ ("NAME=value"). ErrNoDisplay where no one would see
// it, ErrNoPage when url is neither http nor https.
func Open(ctx context.Context, environ []string, url string) error {
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return ErrNoPage
	}
	if !Available(environ) {
		return ErrNoDisplay
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", detached, "sh", command, url)
	cmd.Env = environ
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == missing:
		return fmt.Errorf("%s is not installed, which opens the browser", command)
	case err != nil:
		return fmt.Errorf("start %s: %w", command, err)
	}
	return nil
}

// set reports whether one of the variables has a value.
func set(environ []string, names ...string) bool {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		for _, wanted := range names {
			if name == wanted && value != "" {
				return true
			}
		}
	}
	return false
}
