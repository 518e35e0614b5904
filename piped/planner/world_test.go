// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/pluginhost/plugintest"
	"github.com/pipedeck/pipedeck/piped/source"
)

var testPlugin string

func TestMain(m *testing.M) { plugintest.Main(m, &testPlugin) }

// sources is a planner.Sources; describe is prepare when it is nil.
type sources struct {
	prepare, describe func(ctx context.Context, commit string) (*source.Source, error)
}

func (s sources) Prepare(ctx context.Context, wanted source.Wanted) (*source.Source, error) {
	return s.prepare(ctx, wanted.Commit)
}

func (s sources) Describe(ctx context.Context, wanted source.Wanted) (*source.Source, error) {
	if s.describe != nil {
		return s.describe(ctx, wanted.Commit)
	}
	return s.Prepare(ctx, wanted)
}

func (s sources) LeftOut(_ context.Context, _ *model.Deployment, commit string) ([]string, error) {
	if commit != "incomplete" {
		return nil, errors.New("the summary does without")
	}
	return []string{"app/a is a submodule", "app/b is a pointer", "app/c is a pointer", "app/d is a pointer"}, nil
}
