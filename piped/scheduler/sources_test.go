// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/source"
)

// prepare returns the source of a deployment's application.
type prepare func(ctx context.Context, wanted source.Wanted) (*source.Source, error)

// sources is a scheduler.Sources and a planner.Sources; describe is prepare when it is nil.
type sources struct{ prepare, describe prepare }

func (s sources) Prepare(ctx context.Context, wanted source.Wanted) (*source.Source, error) {
	return s.prepare(ctx, wanted)
}

func (s sources) Describe(ctx context.Context, wanted source.Wanted) (*source.Source, error) {
	if s.describe != nil {
		return s.describe(ctx, wanted)
	}
	return s.prepare(ctx, wanted)
}

func (s sources) Head(ctx context.Context, d *model.Deployment) (*source.Source, error) {
	return s.prepare(ctx, source.Wanted{Deployment: d})
}

func (s sources) ChangedFiles(context.Context, *model.Deployment, string, string) ([]string, error) {
	return []string{"docs/a.md", "docs/b.md"}, nil
}

func (s sources) LeftOut(context.Context, *model.Deployment, string) ([]string, error) {
	return nil, nil
}

// configured is a source with this configuration, in a directory; the name is that of the application's file.
func configured(raw, dir string) (*source.Source, error) {
	const name = "app.pipecd.yaml"
	application, err := config.ParseApplication([]byte(raw), name)
	if err != nil {
		return nil, err
	}
	return &source.Source{Config: application, ConfigFilename: name, Commit: "c0ffee", ApplicationDirectory: dir}, nil
}

// header begins a configuration; the fields of its spec follow.
const header = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n"
