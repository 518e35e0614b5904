// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

func limitCases() []Case {
	return []Case{{
		ID: "limits.application", Capability: Limits, run: largeApplication,
		Title: "takes an application configuration of 3.5 MiB",
		Why:   "piped sends requests of up to 4 MiB; a large application could not be deployed",
		Next:  "leave the bound of a message at the 4 MiB of gRPC, or above",
	}, {
		ID: "limits.options", Capability: Limits, run: largeOptions,
		Title: "takes, or refuses, options of 1 MiB, and lives",
		Why:   "one large application would end the stages of all others",
		Next:  "bound what is decoded, and end the stage with an error",
	}, {
		ID: "limits.targets", Capability: Limits, run: manyLabels,
		Title: "takes a deployment with a thousand labels",
		Why:   "deployments with many labels would fail",
		Next:  "bind no array or command line to the labels",
	}, {
		ID: "limits.unicode", Capability: Limits, run: unicode,
		Title: "takes names and descriptions in any script",
		Why:   "users write in their own language; the deployment would fail",
		Next:  "treat texts as UTF-8",
	}}
}

// unlike runs the stage with another request and compares its end with the usual one.
func unlike(p *probe, what string, edit func(*deployment.ExecutePluginInput)) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	e, err := x.execute(p, order{edit: func(request *deployment.ExecuteStageRequest) { edit(request.GetInput()) }})
	switch {
	case err != nil:
		return err
	case x.gone(e.err) != nil:
		return x.gone(e.err)
	case status.Code(e.err) == codes.ResourceExhausted && strings.Contains(e.err.Error(), "larger than max"):
		return fmt.Errorf("with %s it refuses the message: %s", what, words(e.err))
	case e.cut:
		return fmt.Errorf("with %s it was still at work after %s", what, p.suite.options.RunLimit)
	case e.kind() != first.kind():
		return fmt.Errorf("with %s the stage ended in %s, and in %s otherwise: %s", what, e.kind(), first.kind(),
			e.how())
	}
	p.saw("%s", e.how())
	return nil
}

func largeApplication(p *probe) error {
	return unlike(p, "an application configuration of 3.5 MiB", func(in *deployment.ExecutePluginInput) {
		line := "# " + strings.Repeat("x", 97) + "\n"
		in.TargetDeploymentSource.ApplicationConfig = append(in.TargetDeploymentSource.ApplicationConfig,
			strings.Repeat(line, 35*1024)...)
	})
}

func largeOptions(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	e, err := x.execute(p, order{edit: func(request *deployment.ExecuteStageRequest) {
		request.Input.StageConfig = withKey([]byte(p.suite.with()), "conformanceUnknownKey",
			strings.Repeat("x", 1<<20))
	}})
	switch {
	case err != nil:
		return err
	case e.cut:
		return skip("%s", p.suite.cutOff())
	}
	p.saw("%s", clip(e.how()))
	return e.problem()
}

func manyLabels(p *probe) error {
	return unlike(p, "a thousand labels", func(in *deployment.ExecutePluginInput) {
		for i := range 1000 {
			in.Deployment.Labels[fmt.Sprintf("label-%d", i)] = "value"
		}
	})
}

func unicode(p *probe) error {
	return unlike(p, "names in other scripts", func(in *deployment.ExecutePluginInput) {
		in.Deployment.ApplicationName, in.Stage.Desc = "演示 приложение", "Größe – naïve 🚀"
		commit := in.Deployment.Trigger.Commit
		commit.Message, commit.Author = "変更\n\n\"quoted\" $(x)", "Ζωή"
	})
}
