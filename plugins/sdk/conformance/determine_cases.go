// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

func versionCases() []Case {
	return []Case{{
		ID: "versions.answers", Capability: Versions, run: versionsAnswer,
		Title: "reports the versions of a deployment, if only none",
		Why:   "users see the version unknown, and piped logs an error at each deployment",
		Next:  "answer DetermineVersions; a plugin of stages answers without versions",
	}, {
		ID: "versions.valid", Capability: Versions, run: versionsValid,
		Title: "each version has a text and a known kind",
		Why:   "the control plane refuses the plan of a deployment with a version that breaks the rules",
		Next:  "leave a version out that is not known",
	}, {
		ID: "versions.deterministic", Capability: Versions, run: versionsDeterministic,
		Title: "reports the same versions three times",
		Why:   "users see other versions for the same commit",
		Next:  "do not use an order that changes, such as that of a map",
	}, {
		ID: "versions.target", Capability: Versions, run: versionsOfTarget,
		Title: "reports the versions of the commit that is deployed, not of the one that runs",
		Why:   "users approve a version, and another one is deployed",
		Next:  "read the versions from target_deployment_source",
	}, sourcesCase("versions.sources", Versions, "DetermineVersions", askVersions)}
}

// planInput is what is asked before a deployment; running adds what runs.
func (p *probe) planInput(x *session, running bool) (*deployment.PlanPluginInput, error) {
	request, err := p.suite.request(p.suite.stage(x), p.suite.newID())
	if err != nil {
		return nil, err
	}
	input := &deployment.PlanPluginInput{Deployment: request.GetInput().GetDeployment(),
		TargetDeploymentSource: request.GetInput().GetTargetDeploymentSource()}
	if running {
		if input.RunningDeploymentSource, err = p.suite.sourceFor(); err != nil {
			return nil, err
		}
	}
	return input, nil
}

func (p *probe) versions(running bool) (*deployment.DetermineVersionsResponse, error) {
	x, err := p.shared()
	if err != nil {
		return nil, err
	}
	input, err := p.planInput(x, running)
	if err != nil {
		return nil, err
	}
	ctx, cancel := p.limit()
	defer cancel()
	answer, err := x.deployments().DetermineVersions(ctx, &deployment.DetermineVersionsRequest{Input: input})
	if died := x.gone(err); died != nil {
		return nil, died
	}
	if refusal(err) {
		return nil, skip("it refuses this application: %s", words(err))
	}
	if err != nil {
		return nil, fmt.Errorf("DetermineVersions ended with %s", words(err))
	}
	return answer, nil
}

func versionsAnswer(p *probe) error {
	answer, err := p.versions(false)
	if err != nil {
		return err
	}
	if len(answer.GetVersions()) > 0 {
		p.saw("%s", clip(answer.GetVersions()[0].GetVersion()))
	}
	return nil
}

func versionsValid(p *probe) error {
	answer, err := p.versions(false)
	if err != nil {
		return err
	}
	if len(answer.GetVersions()) == 0 {
		return skip("it reports none")
	}
	for _, version := range answer.GetVersions() {
		if version.GetVersion() == "" {
			return errors.New("DetermineVersions reports a version without a text")
		}
		if err := version.Validate(); err != nil {
			return fmt.Errorf("version %s: %w", clip(version.GetVersion()), err)
		}
	}
	return nil
}

func versionsDeterministic(p *probe) error {
	return thrice("DetermineVersions", func() (proto.Message, error) { return p.versions(false) })
}

// versionsOfTarget asks about two commits that have other versions, first without one that runs.
func versionsOfTarget(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	one, err := p.suite.sourceFor()
	if err != nil {
		return err
	}
	other, what, err := p.suite.changedSource()
	if err != nil {
		return err
	}
	ask := func(target, running *common.DeploymentSource) (*deployment.DetermineVersionsResponse, error) {
		input, err := p.planInput(x, false)
		if err != nil {
			return nil, err
		}
		input.TargetDeploymentSource, input.RunningDeploymentSource = target, running
		ctx, cancel := p.limit()
		defer cancel()
		answer, err := x.deployments().DetermineVersions(ctx, &deployment.DetermineVersionsRequest{Input: input})
		if err != nil {
			return nil, skip("it refuses this application: %s", words(err))
		}
		return answer, nil
	}
	was, err := ask(one, nil)
	if err != nil {
		return err
	}
	is, err := ask(other, nil)
	if err != nil {
		return err
	}
	if proto.Equal(was, is) {
		return skip("another %s is no other version to it", what)
	}
	both, err := ask(other, one)
	if err != nil {
		return err
	}
	if proto.Equal(both, was) {
		return fmt.Errorf("with another %s to be deployed, it reports %s, which is the version of the commit that "+
			"runs; without one that runs it reports %s", what, clip(fmt.Sprint(both)), clip(fmt.Sprint(is)))
	}
	return nil
}

// thrice compares three answers to the same question.
func thrice(method string, ask func() (proto.Message, error)) error {
	var before proto.Message
	for range 3 {
		answer, err := ask()
		if err != nil {
			return err
		}
		if before != nil && !proto.Equal(before, answer) {
			return fmt.Errorf("%s answered the same question with %s, and then with %s", method,
				clip(fmt.Sprint(before)), clip(fmt.Sprint(answer)))
		}
		before = answer
	}
	return nil
}

func strategyCases() []Case {
	return []Case{{
		ID: "strategy.answers", Capability: Strategy, run: strategyAnswers,
		Title: "reports a strategy, or that it has no opinion",
		Why:   "piped leaves the plugin out of the decision and logs an error at each deployment",
		Next:  "answer DetermineStrategy; a plugin of stages answers unsupported",
	}, {
		ID: "strategy.decided", Capability: Strategy, run: strategyDecided,
		Title: "a strategy is a quick sync or the pipeline, with a reason",
		Why:   "piped cannot plan with AUTO, and users do not see why the deployment has its stages",
		Next:  "set sync_strategy to QUICK_SYNC or PIPELINE and fill summary, or set unsupported",
	}, {
		ID: "strategy.first", Capability: Strategy, run: strategyFirst,
		Title: "decides about an application that has never been deployed",
		Why:   "the first deployment of each application asks without a running source",
		Next:  "treat an absent running_deployment_source as nothing deployed",
	}, {
		ID: "strategy.preview", Capability: Strategy, run: strategyPreview,
		Title: "a deployment without id, as PipeCD's plan preview sends it, does not end the process",
		Why:   "a plan preview would end the stages of all deployments",
		Next:  "use application_id and application_name alone for the decision, or answer InvalidArgument",
	}, {
		ID: "strategy.deterministic", Capability: Strategy, run: strategyDeterministic,
		Title: "decides the same three times",
		Why:   "the same commit would be deployed in another way, by chance",
		Next:  "decide by the sources alone",
	}, sourcesCase("strategy.sources", Strategy, "DetermineStrategy", askStrategy)}
}

func (p *probe) strategy(running bool,
	edit func(*deployment.PlanPluginInput)) (*deployment.DetermineStrategyResponse, error) {
	x, err := p.shared()
	if err != nil {
		return nil, err
	}
	input, err := p.planInput(x, running)
	if err != nil {
		return nil, err
	}
	if edit != nil {
		edit(input)
	}
	ctx, cancel := p.limit()
	defer cancel()
	answer, err := x.deployments().DetermineStrategy(ctx, &deployment.DetermineStrategyRequest{Input: input})
	if died := x.gone(err); died != nil {
		return nil, died
	}
	if refusal(err) {
		return nil, skip("it refuses this application: %s", words(err))
	}
	if err != nil {
		return nil, fmt.Errorf("DetermineStrategy ended with %s", words(err))
	}
	return answer, nil
}

func strategyAnswers(p *probe) error {
	answer, err := p.strategy(true, nil)
	if err != nil {
		return err
	}
	p.saw("%s", answer.GetSyncStrategy())
	if answer.GetUnsupported() {
		p.saw("no opinion")
	}
	return nil
}

func strategyDecided(p *probe) error {
	answer, err := p.strategy(true, nil)
	switch {
	case err != nil:
		return err
	case answer.GetUnsupported():
		return skip("it has no opinion")
	case answer.GetSyncStrategy() != model.SyncStrategy_QUICK_SYNC &&
		answer.GetSyncStrategy() != model.SyncStrategy_PIPELINE:
		return fmt.Errorf("it decides for %s, which is no decision", answer.GetSyncStrategy())
	case answer.GetSummary() == "":
		return fmt.Errorf("it decides for %s without a reason in summary", answer.GetSyncStrategy())
	}
	p.saw("%s", clip(answer.GetSummary()))
	return nil
}

func strategyFirst(p *probe) error {
	_, err := p.strategy(false, nil)
	return err
}

func strategyPreview(p *probe) error {
	if _, err := p.start(setup{}); err != nil {
		return err
	}
	p.used = p.own[0]
	_, err := p.strategy(true, func(input *deployment.PlanPluginInput) {
		input.Deployment = &model.Deployment{PipedId: input.GetDeployment().GetPipedId(),
			ApplicationId:   input.GetDeployment().GetApplicationId(),
			ApplicationName: input.GetDeployment().GetApplicationName()}
	})
	return err
}

func strategyDeterministic(p *probe) error {
	return thrice("DetermineStrategy", func() (proto.Message, error) { return p.strategy(true, nil) })
}
