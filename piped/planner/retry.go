// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"errors"
	"fmt"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/clock"
)

// maxAttempts bounds the attempts at a plan. An input that ends its plugin is refused by the plugin host after fewer;
// the others are for plugins that end because of something else.
const maxAttempts = 10

// planInTime makes attempts at a plan until one is not interrupted by the end of a plugin, within the time limit.
func (p *Planner) planInTime(ctx context.Context, pending *model.Deployment) (*model.Deployment, error) {
	limited, cancel := clock.WithHeldTimeout(ctx, clock.System{}, p.options.Timeout, p.options.Plugins.HeldTime,
		context.DeadlineExceeded)
	defer cancel()
	phase := ""
	at := func(what string) { phase = what }
	for attempt := 1; ; attempt++ {
		planned, err := p.plan(limited, pending, at)
		var interrupted *interruptedError
		switch {
		case err == nil || ctx.Err() != nil:
			return planned, err
		case limited.Err() != nil:
			return nil, fmt.Errorf("planning timed out after %s, while %s", p.options.Timeout, phase)
		case !errors.As(err, &interrupted):
			return nil, err
		case attempt >= maxAttempts:
			return nil, fmt.Errorf("%w (in attempt %d)", interrupted.error, attempt)
		}
		p.options.Logger.Warn("planning was interrupted and starts again once the plugin is back",
			"deployment", pending.GetId(), "application", pending.GetApplicationName(), "error", err)
	}
}

// Retry makes an attempt at calls to plugins, and another one once they are back, while one of them ends during the
// attempt. It returns the error of the last attempt. A plugin that does not come back ends it, too.
func Retry(ctx context.Context, plugins []*pluginhost.Plugin, attempt func() error) error {
	for n := 1; ; n++ {
		err := attempt()
		if !died(err) || ctx.Err() != nil || n >= maxAttempts {
			return err
		}
		for _, plugin := range plugins {
			if err := plugin.WaitRunning(ctx); err != nil {
				return err
			}
		}
	}
}

// interruptedError is the end of a plugin during an attempt. Another attempt waits until the plugin is back.
type interruptedError struct{ error }

func (e *interruptedError) Unwrap() error { return e.error }

// interruption marks an error that says that a plugin ended.
func interruption(err error) error {
	if died(err) {
		return &interruptedError{err}
	}
	return err
}

// quarantined reports that the plugin host refuses the call, because the plugin ended at others like it.
func quarantined(err error) bool {
	var refused *pluginhost.InputQuarantinedError
	return errors.As(err, &refused)
}

// died reports that a plugin ended during a call, or had no process for it.
func died(err error) bool {
	var exit *pluginhost.ExitError
	var down *pluginhost.NotRunningError
	return errors.As(err, &exit) || errors.As(err, &down)
}
