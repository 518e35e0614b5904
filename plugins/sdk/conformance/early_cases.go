// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

func earlyCases() []Case {
	return []Case{{
		ID: "health.early", Capability: Health, run: healthyEarly,
		Title: "answers as soon as it reports that it serves",
		Why:   "piped sends the first deployment to a plugin that says SERVING, and the deployment fails",
		Next:  "report NOT_SERVING, or do not listen, until every call can be answered",
	}}
}

// healthyEarly asks a process from its start on whether it serves, and takes it at its word.
func healthyEarly(p *probe) error {
	if _, err := p.shared(); err != nil {
		return err
	}
	x := &session{suite: p.suite, rec: newRecorder()}
	p.own = append(p.own, x)
	var err error
	if x.piped, err = standin.Start(standin.Options{Each: x.rec.each, Invalid: x.rec.refused}); err != nil {
		return err
	}
	if err := x.launch(x.piped.Address, setup{}); err != nil {
		return err
	}
	if x.conn, err = dial(x.port); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		err = p.atItsWord(ctx, x)
	}()
	if !x.process.within(ctx, p.suite.bounds.Start, over) {
		cancel()
	}
	<-over
	return err
}

// atItsWord waits until the process says that it serves, and asks it for its stages.
func (p *probe) atItsWord(ctx context.Context, x *session) error {
	for {
		answer, err := grpc_health_v1.NewHealthClient(x.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{},
			grpc.WaitForReady(true))
		switch {
		case status.Code(err) == codes.Unimplemented:
			return skip("grpc.health.v1 is not served")
		case ctx.Err() != nil:
			return skip("it does not report that it serves, see health.serving")
		case err == nil && answer.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING:
			began := time.Now()
			_, err := x.deployments().FetchDefinedStages(ctx, &deployment.FetchDefinedStagesRequest{})
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("it reports SERVING, and FetchDefinedStages ended with %s right afterwards: it "+
					"reports that it serves before it does", words(err))
			}
			p.saw("after %s", time.Since(began).Round(time.Millisecond))
			return nil
		}
		p.pause(5 * time.Millisecond)
	}
}
