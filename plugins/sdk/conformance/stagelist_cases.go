// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

func stageListCases() []Case {
	return []Case{{
		ID: "stages.named", Capability: Stages, run: stagesNamed,
		Title: "names at least one stage",
		Why:   "piped has nothing to call the plugin for",
		Next:  "answer FetchDefinedStages with the names of the stages, rollback stages included",
	}, {
		ID: "stages.wellformed", Capability: Stages, run: stagesWellFormed,
		Title: "names of stages have no blanks and are not empty",
		Why:   "no pipeline can name such a stage",
		Next:  "use names such as MY_STAGE",
	}, {
		ID: "stages.unique", Capability: Stages, run: stagesUnique,
		Title: "names each stage once",
		Why:   "piped takes two owners of one stage for a conflict and refuses the pipeline",
		Next:  "answer FetchDefinedStages with each name once",
	}, {
		ID: "stages.stable", Capability: Stages, run: stagesStable,
		Title: "names the same stages each time, also after a restart",
		Why:   "piped asks once for each process; stages that come and go make pipelines fail by chance",
		Next:  "answer FetchDefinedStages with a fixed list",
	}}
}

func stagesNamed(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	if len(x.stages) == 0 {
		return errors.New("FetchDefinedStages names none")
	}
	p.saw("%s", strings.Join(x.stages, ", "))
	return nil
}

func stagesWellFormed(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	for _, stage := range x.stages {
		if stage == "" || strings.ContainsAny(stage, " \t\r\n") {
			return fmt.Errorf("FetchDefinedStages names %q, which is empty or has blanks", stage)
		}
	}
	return nil
}

func stagesUnique(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	for i, stage := range x.stages {
		if slices.Contains(x.stages[:i], stage) {
			return fmt.Errorf("FetchDefinedStages names %s twice", stage)
		}
	}
	return nil
}

func stagesStable(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	again, err := p.start(setup{})
	if err != nil {
		return err
	}
	answers := [][]string{again.stages}
	for range 2 {
		ctx, cancel := p.limit()
		answer, err := x.deployments().FetchDefinedStages(ctx, &deployment.FetchDefinedStagesRequest{})
		cancel()
		if err != nil {
			return fmt.Errorf("asked again, FetchDefinedStages ended with %s", words(err))
		}
		answers = append(answers, answer.GetStages())
	}
	for _, stages := range answers {
		if !slices.Equal(stages, x.stages) {
			return fmt.Errorf("FetchDefinedStages named %v, and then %v", x.stages, stages)
		}
	}
	return nil
}

func healthCases() []Case {
	return []Case{{
		ID: "health.serving", Capability: Health, run: healthServing,
		Title: "reports that it serves, when it reports its health",
		Why:   "piped starts a plugin again that says it does not serve",
		Next:  "serve grpc.health.v1.Health with the status SERVING for the empty service name",
	}, {
		ID: "health.busy", Capability: Health, run: healthBusy,
		Title: "answers while a stage runs",
		Why:   "piped takes a plugin that does not answer for hung and ends it, with all its stages",
		Next:  "serve each call in a separate thread; hold no lock while a stage runs",
	}, {
		ID: "health.reconnect", Capability: Health, run: reconnect,
		Title: "answers on a second connection after the first has ended",
		Why:   "piped connects again after a lost connection; the plugin would be gone for it",
		Next:  "accept any number of connections, and go on when one ends",
	}}
}

func healthServing(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	ctx, cancel := p.limit()
	defer cancel()
	answer, err := grpc_health_v1.NewHealthClient(x.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return skip("grpc.health.v1 is not served; a hang is found by calls of the plugin alone")
	case err != nil:
		return fmt.Errorf("the health check ended with %s", words(err))
	case answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING:
		return fmt.Errorf("it says %s: piped would start it again", answer.GetStatus())
	}
	p.saw("SERVING")
	return nil
}

// healthBusy asks while a stage waits for piped.
func healthBusy(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	return p.whileHeld(x, func() error {
		const limit = 5 * time.Second
		ctx, cancel := context.WithTimeout(p.ctx, limit)
		defer cancel()
		began := time.Now()
		_, err := x.deployments().FetchDefinedStages(ctx, &deployment.FetchDefinedStagesRequest{})
		if err != nil {
			return fmt.Errorf("while a stage ran, FetchDefinedStages ended with %s after %s", words(err),
				time.Since(began).Round(time.Millisecond))
		}
		p.saw("after %s", time.Since(began).Round(time.Millisecond))
		return nil
	})
}

func reconnect(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	if err := x.conn.Close(); err != nil {
		return err
	}
	if x.conn, err = dial(x.port); err != nil {
		return err
	}
	ctx, cancel := p.limit()
	defer cancel()
	go func() {
		select {
		case <-x.process.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	_, err = x.deployments().FetchDefinedStages(ctx, &deployment.FetchDefinedStagesRequest{}, grpc.WaitForReady(true))
	if died := x.gone(err); died != nil {
		return died
	}
	if err != nil {
		return fmt.Errorf("on a second connection, FetchDefinedStages ended with %s", words(err))
	}
	return nil
}
