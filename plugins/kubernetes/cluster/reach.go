// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

// Reach is Connect for callers that do not wait for a cluster to come up: after patience its error says what was
// missing.
func (p *Pool) Reach(ctx context.Context, target config.DeployTarget, patience time.Duration) (*Client, error) {
	late := fmt.Errorf("it did not answer within %s", patience)
	bounded, cancel := context.WithTimeoutCause(ctx, patience, late)
	defer cancel()
	last := &lastLine{}
	client, err := p.Connect(bounded, target, last)
	if err != nil && errors.Is(context.Cause(bounded), late) && last.text != "" {
		return nil, errors.New(last.text)
	}
	return client, err
}

// lastLine keeps the newest of the lines that say what is waited for.
type lastLine struct{ text string }

func (l *lastLine) Infof(format string, args ...any) {
	l.text = strings.TrimSpace(fmt.Sprintf(format, args...))
}
