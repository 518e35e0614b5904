// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"time"
)

// compilePrograms compiles the programs that the environment runs, if it has to. The end of ctx is no error.
func (e *Environment) compilePrograms(ctx context.Context) error {
	if e.Programs == nil {
		return nil
	}
	began := time.Now()
	err := e.Programs.Run(ctx, func(detail string, done, total int64) {
		e.components.progress(componentPrograms, detail, done, total)
	})
	switch {
	case ctx.Err() != nil:
		e.components.stopped(componentPrograms)
		return nil
	case err != nil:
		return &StartError{componentPrograms, err, "correct the sources, then run: make up"}
	}
	e.components.ready(componentPrograms, fmt.Sprintf("compiled in %s", time.Since(began).Round(100*time.Millisecond)))
	return nil
}
