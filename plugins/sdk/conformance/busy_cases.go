// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// busyCases are about what piped asks while a stage runs.
func busyCases() []Case {
	return []Case{{
		ID: "planning.busy", Capability: Planning, run: plansWhileBusy,
		Title: "plans a deployment while a stage of another one runs",
		Why:   "deployments of other applications are not planned until the stage ends, which may take hours",
		Next:  "hold no lock at planning that a stage holds while it runs",
	}}
}

// plansWhileBusy asks what piped asks at planning while a stage waits for piped.
func plansWhileBusy(p *probe) error {
	if _, err := p.onePlan(); err != nil {
		return err
	}
	x := p.used
	input, err := p.planInput(x, true)
	if err != nil {
		return err
	}
	questions := []struct {
		method string
		ask    func(context.Context) (proto.Message, error)
	}{
		{"DetermineVersions", func(ctx context.Context) (proto.Message, error) {
			return x.deployments().DetermineVersions(ctx, &deployment.DetermineVersionsRequest{Input: input})
		}},
		{"DetermineStrategy", func(ctx context.Context) (proto.Message, error) {
			return x.deployments().DetermineStrategy(ctx, &deployment.DetermineStrategyRequest{Input: input})
		}},
		{"BuildPipelineSyncStages", func(ctx context.Context) (proto.Message, error) {
			return x.deployments().BuildPipelineSyncStages(ctx, &deployment.BuildPipelineSyncStagesRequest{
				Rollback: true, Stages: []*stageConfig{p.suite.configured(p.suite.stage(x), plannedIndex)}})
		}},
	}
	return p.whileHeld(x, func() error {
		began := time.Now()
		for _, question := range questions {
			ctx, cancel := p.limit()
			_, err := question.ask(ctx)
			late := ctx.Err() != nil
			cancel()
			if died := x.gone(err); died != nil {
				return died
			}
			if late && p.ctx.Err() == nil {
				return fmt.Errorf("while a stage ran, %s had not answered after %s: planning waits for the stage",
					question.method, p.suite.bounds.Answer)
			}
		}
		p.saw("after %s", time.Since(began).Round(time.Millisecond))
		return p.ctx.Err()
	})
}
