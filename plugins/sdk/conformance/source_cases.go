// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// sourcesCase makes a case of a question that has to leave the sources as they are: the plugins of an application are
// asked about the same directory, one after another.
func sourcesCase(id string, about Capability, method string, ask sourceQuestion) Case {
	return Case{
		ID: id, Capability: about,
		Title: method + " leaves the sources as they are",
		Why:   "the other plugins of the application, and the next question, see other files than Git has",
		Next:  "write what is rendered into a temporary directory, and remove it",
		run:   func(p *probe) error { return leavesSources(p, method, ask) },
	}
}

// sourceQuestion asks the plugin about a source, and about the one that runs, where the question has it. Its error is
// for a question that the plugin does not answer.
type sourceQuestion func(p *probe, ctx context.Context, x *session, source, running *common.DeploymentSource) error

func leavesSources(p *probe, method string, ask sourceQuestion) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	source, err := p.suite.sourceFor()
	if err != nil {
		return err
	}
	running, err := p.suite.sourceFor()
	if err != nil {
		return err
	}
	before, ok := fingerprint(source)
	runningBefore, runningOK := fingerprint(running)
	ctx, cancel := p.limit()
	defer cancel()
	err = ask(p, ctx, x, source, running)
	var v *verdict
	switch {
	case x.gone(err) != nil:
		return x.gone(err)
	case errors.As(err, &v):
		return err
	case status.Code(err) == codes.Unimplemented:
		return skip("it does not have %s", method)
	case err != nil && !refusal(err): // the case for the answer says so
		return skip("%s ended with %s", method, words(err))
	}
	if !ok || !runningOK || source.GetApplicationDirectory() == p.suite.source.GetApplicationDirectory() {
		return skip("the sources are too large to be compared")
	}
	if err := unchanged(source, before, method, "the sources"); err != nil {
		return err
	}
	return unchanged(running, runningBefore, method, "the sources of what runs")
}

// unchanged compares the files of a repository with what they were.
func unchanged(source *common.DeploymentSource, before map[string][sha256.Size]byte, method, what string) error {
	after, ok := fingerprint(source)
	if !ok {
		return skip("the sources are too large to be compared")
	}
	for _, name := range sortedKeys(after) {
		if _, known := before[name]; !known {
			return fmt.Errorf("%s has written %s into %s", method, name, what)
		}
	}
	for _, name := range sortedKeys(before) {
		if before[name] != after[name] {
			return fmt.Errorf("%s has changed %s in %s", method, name, what)
		}
	}
	return nil
}

func askVersions(p *probe, ctx context.Context, x *session,
	source, running *common.DeploymentSource) error {
	input, err := p.planInput(x, false)
	if err != nil {
		return err
	}
	input.TargetDeploymentSource, input.RunningDeploymentSource = source, running
	_, err = x.deployments().DetermineVersions(ctx, &deployment.DetermineVersionsRequest{Input: input})
	return err
}

func askStrategy(p *probe, ctx context.Context, x *session,
	source, running *common.DeploymentSource) error {
	input, err := p.planInput(x, false)
	if err != nil {
		return err
	}
	input.TargetDeploymentSource, input.RunningDeploymentSource = source, running
	_, err = x.deployments().DetermineStrategy(ctx, &deployment.DetermineStrategyRequest{Input: input})
	return err
}

func askLive(p *probe, ctx context.Context, x *session,
	source, _ *common.DeploymentSource) error {
	request, err := liveRequest(p)
	if err != nil {
		return err
	}
	request.DeploySource = source
	_, err = livestate.NewLivestateServiceClient(x.conn).GetLivestate(ctx, request)
	return err
}

func askPreview(p *probe, _ context.Context, x *session,
	source, running *common.DeploymentSource) error {
	_, err := p.previewOf(x, source, running)
	return err
}
