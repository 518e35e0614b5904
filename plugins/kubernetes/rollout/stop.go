// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// TimeoutError is a rollout that did not finish in time.
type TimeoutError struct {
	Timeout time.Duration
	// Setting is what a user changes to give it more; empty is input.rolloutTimeout.
	Setting string
}

func (e *TimeoutError) Error() string {
	setting := e.Setting
	if setting == "" {
		setting = "input.rolloutTimeout"
	}
	return fmt.Sprintf("not ready within %s (%s)", e.Timeout, setting)
}

// interrupted words the end of the context. A timeout fails with the last state; a cancel is passed on, and the last
// state is in the log; the failure of another workload ends this one silently.
func (t *tracker) interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	state := t.withProblems("last state: " + t.state())
	if timeout, ok := errors.AsType[*TimeoutError](cause); ok {
		return &FailedError{Key: t.key(), Reason: fmt.Sprintf("%v; %s", timeout, state)}
	}
	if _, other := errors.AsType[*FailedError](cause); !other {
		t.log.Infof("%s was not ready when the stage had to stop; %s", t.name(), state)
	}
	return cause
}

func (t *tracker) state() string {
	if t.progress == "" {
		return "not known yet"
	}
	return t.progress
}

// maxReasons bounds the problems that one error lists.
const maxReasons = 3

func (t *tracker) withProblems(reason string) string {
	var b strings.Builder
	b.WriteString(reason)
	all := append(t.problems[:len(t.problems):len(t.problems)], t.hints...)
	for i, p := range all {
		if i == maxReasons {
			fmt.Fprintf(&b, "; and %d more", len(all)-i)
			break
		}
		b.WriteString("; " + p.text)
	}
	return b.String()
}
