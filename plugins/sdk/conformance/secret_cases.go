// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// The secrets that are planted: one for each place, so that the place is known where one appears.
const (
	secretOfConfig      = "canary-config-7Qm2xVt9"
	secretOfTarget      = "canary-target-4Hd8wKz1"
	secretOfOptions     = "canary-options-9Lp3rTb6"
	secretOfApplication = "canary-application-2Nc5yFg8"
	secretOfFile        = "canary-file-6Jv1sQe4"
)

func secretCases() []Case {
	const next = "print and log no values that come from there; name the key of a wrong value, not the value"
	list := []Case{}
	for _, place := range []struct{ id, what, secret, why string }{
		{"config", "plugins[].config of the piped configuration", secretOfConfig,
			"everyone who reads the log of piped or of a deployment sees the credentials of the plugin"},
		{"target", "the configuration of a deploy target", secretOfTarget,
			"everyone who reads the log of piped or of a deployment sees the credentials of the platform"},
		{"options", "the options of a stage", secretOfOptions,
			"secrets that an application passes to a stage appear in the log of the deployment"},
		{"application", "the configuration of the application, encrypted secrets included", secretOfApplication,
			"everyone who reads the log sees what the authors of the application have encrypted"},
		{"source", "a file with a decrypted secret in the sources", secretOfFile,
			"everyone who reads the log sees what the authors of the application have encrypted"},
	} {
		list = append(list, Case{
			ID: "secrets." + place.id, Capability: Secrets,
			Title: "a secret in " + place.what + " appears nowhere else",
			Why:   place.why, Next: next,
			run: func(p *probe) error { return p.leaks(place.secret) },
		})
	}
	return append(list, Case{
		ID: "secrets.errors", Capability: Secrets, run: secretsInErrors,
		Title: "messages about a configuration that cannot be read hold no value of it",
		Why:   "a plugin that does not start prints its password into the log of piped and the user interface",
		Next:  "report the key and the expected type, not the value",
	}, Case{
		ID: "secrets.processes", Capability: Secrets, run: secretsOfProcesses,
		Title: "no process that the plugin starts has a secret on its command line",
		Why:   "every user of the machine sees the command lines of all processes",
		Next:  "hand secrets to programs by a file, by standard input or by the environment",
	}, Case{
		ID: "secrets.configured", Capability: Secrets, run: configuredSecrets, last: true,
		Title: "the secrets of its real configuration appear nowhere else",
		Why:   "everyone who reads the log of piped or of a deployment sees them",
		Next:  next,
	})
}

// leaked is where the planted secrets may appear.
type leaked struct {
	// places are texts by what they are.
	places map[string]string
	// commands are command lines of processes that the plugin has started.
	commands []string
	// files are those that are there after the end.
	files   []secretFile
	refused error
}

// planted runs the program with all secrets planted.
func (p *probe) planted() (*leaked, error) {
	return p.suite.canaries.get(func() (*leaked, error) {
		found := &leaked{places: map[string]string{}}
		began := time.Now()
		seen := &commandWatch{lines: map[string]bool{}}
		defer seen.stop()
		x, err := p.start(setup{settings: p.suite.plant, apart: true, spawned: seen.begin})
		if errors.Is(err, errNotStarted) { // it refuses keys that it does not know
			found.refused = err
			x, err = p.start(setup{apart: true, spawned: seen.begin})
		}
		if err != nil {
			return nil, err
		}
		// The first one runs as usual, the second with options that are not what the stage wants: a plugin may name a
		// wrong value of an option that is no secret.
		for i, edit := range []func(map[string]json.RawMessage){
			func(options map[string]json.RawMessage) {
				options["conformancePassword"] = quoted(secretOfOptions)
				options[tokenKey] = quoted(p.suite.token())
			},
			func(options map[string]json.RawMessage) {
				for key := range options {
					options[key] = json.RawMessage(`[{"of": ["another", "type"]}]`)
				}
				options["conformancePassword"] = quoted(secretOfOptions)
				options[tokenKey] = quoted(p.suite.token())
			},
		} {
			if err := plantedStage(p, x, found, i, edit); err != nil {
				return nil, err
			}
		}
		plantedPlan(p, x, found)
		_ = x.terminate(p.ctx) // what it prints at its end counts as well
		found.commands = seen.stop()
		found.places["what it prints"] = x.process.output.text()
		found.files = p.suite.secretFiles(began, x.home, x.temp, filepath.Join(x.dir, "work"), os.TempDir(), "/var/tmp")
		return found, nil
	})
}

func quoted(text string) json.RawMessage { return json.RawMessage(`"` + text + `"`) }

// tokenKey is the key of what distinguishes the secrets of this run from those of others.
const tokenKey = "conformanceRun"

// token is the name of the directory of this run, which no other run has.
func (s *suite) token() string { return filepath.Base(s.scratch) }

// plant puts secrets under keys that no plugin has.
func (s *suite) plant(settings *sdk.Settings) {
	settings.Config = withKey(withKey(settings.Config, "conformancePassword", secretOfConfig), tokenKey, s.token())
	targets := append([]sdk.DeployTargetConfig(nil), settings.DeployTargets...)
	for i := range targets {
		config := withKey(targets[i].Config, "conformancePassword", secretOfTarget)
		targets[i].Config = withKey(config, tokenKey, s.token())
	}
	settings.DeployTargets = targets
}

// plantSource puts secrets into the application.
func (s *suite) plantSource(in *deployment.ExecutePluginInput) error {
	source := in.GetTargetDeploymentSource()
	config := strings.TrimRight(string(source.GetApplicationConfig()), "\n")
	if strings.Contains(config, "\nspec:") && !strings.Contains(config, "\n  encryption:") {
		config = strings.Replace(config, "\nspec:", "\nspec:\n  encryption:\n    encryptedSecrets:\n      password: "+
			secretOfApplication, 1)
	}
	source.ApplicationConfig = []byte(config + "\n# " + secretOfApplication + " " + s.token() + "\n")
	return os.WriteFile(filepath.Join(source.GetApplicationDirectory(), "conformance-secret.txt"),
		[]byte("password="+secretOfFile+"\nrun="+s.token()+"\n"), 0o600)
}

func plantedStage(p *probe, x *session, found *leaked, number int,
	edit func(map[string]json.RawMessage)) error {
	var planting error
	held, err := p.hold(x, order{edit: func(request *deployment.ExecuteStageRequest) {
		options := map[string]json.RawMessage{}
		if json.Unmarshal([]byte(p.suite.with()), &options) == nil {
			edit(options)
			request.Input.StageConfig, planting = json.Marshal(options)
		}
		planting = errors.Join(planting, p.suite.plantSource(request.GetInput()))
	}})
	if err != nil {
		return err
	}
	held.gate.release()
	var e *execution
	select {
	case e = <-held.ended:
		held.ended <- e
	case <-time.After(p.suite.patience(p, order{})):
	case <-p.ctx.Done():
	}
	e = held.finish()
	if planting != nil || p.ctx.Err() != nil {
		return errors.Join(planting, p.ctx.Err())
	}
	if e.err != nil {
		found.places[fmt.Sprintf("the error of the stage, run %d", number+1)] = e.err.Error()
	}
	for _, c := range x.rec.of(held.id) {
		found.places[placeOf(c.method)] += prototext.Format(c.request) + strings.Join(logTexts(c), "\n")
	}
	for _, c := range x.rec.about(func(c call) bool { return c.stage == "" }) {
		found.places["the request "+c.method] += prototext.Format(c.request)
	}
	return nil
}

func logTexts(c call) []string {
	var texts []string
	for _, block := range blocksOf(c) {
		texts = append(texts, block.GetLog())
	}
	return texts
}

func placeOf(method string) string {
	switch {
	case isLog(method):
		return "the log of the stage"
	case isPut(method):
		return "metadata"
	}
	return "the request " + method
}

// plantedPlan has the plugin plan what holds secrets.
func plantedPlan(p *probe, x *session, found *leaked) {
	stage := p.suite.configured(p.suite.stage(x), plannedIndex)
	stage.Config = withKey(stage.Config, "conformancePassword", secretOfOptions)
	note := func(place string, answer proto.Message, err error) {
		if err != nil {
			found.places["the error of "+place] += err.Error()
		} else {
			found.places["the answer of "+place] += prototext.Format(answer)
		}
	}
	ctx, cancel := p.limit()
	defer cancel()
	pipeline, err := x.deployments().BuildPipelineSyncStages(ctx, &deployment.BuildPipelineSyncStagesRequest{
		Rollback: true, Stages: []*stageConfig{stage}})
	note("BuildPipelineSyncStages", pipeline, err)
	request, err := p.suite.request(p.suite.stage(x), p.suite.newID())
	if err != nil || p.suite.plantSource(request.GetInput()) != nil {
		return
	}
	input := &deployment.PlanPluginInput{Deployment: request.GetInput().GetDeployment(),
		TargetDeploymentSource: request.GetInput().GetTargetDeploymentSource()}
	versions, err := x.deployments().DetermineVersions(ctx, &deployment.DetermineVersionsRequest{Input: input})
	note("DetermineVersions", versions, err)
	strategy, err := x.deployments().DetermineStrategy(ctx, &deployment.DetermineStrategyRequest{Input: input})
	note("DetermineStrategy", strategy, err)
}

func (p *probe) leaks(secret string) error {
	found, err := p.planted()
	if err != nil {
		return err
	}
	for _, place := range sortedKeys(found.places) {
		if holds(found.places[place], secret) {
			return fmt.Errorf("the secret appears in %s", place)
		}
	}
	planted := found.refused == nil || secret != secretOfConfig && secret != secretOfTarget
	if !planted {
		return skip("it refuses a configuration with a key that it does not know, so none could be planted")
	}
	if secret == secretOfTarget && len(p.suite.options.Settings.DeployTargets) == 0 {
		return skip("it is configured without deploy targets")
	}
	return nil
}

func secretsInErrors(p *probe) error {
	t, err := p.suite.tryStart(p, 0, p.suite.bounds.Start, func(settings *sdk.Settings) {
		settings.Config = json.RawMessage(`["` + secretOfConfig + `"]`)
	})
	if err != nil {
		return err
	}
	if holds(t.process.output.text(), secretOfConfig) {
		return errors.New("the secret appears in what it prints about a configuration that it cannot read")
	}
	port, err := p.suite.freePort()
	if err != nil {
		return err
	}
	process, _, err := p.suite.try(p.ctx, p.suite.bounds.Start, "start", "--piped-plugin-service", loopback(port),
		"--config", `{"name": "broken", "config": {"password": "`+secretOfConfig+`"`)
	if err != nil {
		return err
	}
	if holds(process.output.text(), secretOfConfig) {
		return errors.New("the secret appears in what it prints about a --config that is not JSON")
	}
	return nil
}

// configuredSecrets looks at everything that came from the shared sessions.
func configuredSecrets(p *probe) error {
	if len(p.suite.options.Secrets) == 0 {
		return skip("its configuration has no key that looks like one of a secret")
	}
	if _, err := p.ranOnce(); err != nil {
		return err
	}
	var once sync.Once
	var at string
	for _, x := range p.suite.sessions() {
		look := func(place, text string) {
			for _, secret := range p.suite.options.Secrets {
				if secret != "" && holds(text, secret) {
					once.Do(func() { at = place })
				}
			}
		}
		look("what it prints", x.process.output.text())
		for _, c := range x.rec.about(func(call) bool { return true }) {
			look(placeOf(c.method), prototext.Format(c.request)+strings.Join(logTexts(c), "\n"))
		}
	}
	for _, answer := range p.answers() {
		for _, secret := range p.suite.options.Secrets {
			if secret != "" && holds(prototext.Format(answer.message), secret) {
				once.Do(func() { at = "the answer to " + answer.method })
			}
		}
	}
	if at != "" {
		return fmt.Errorf("a secret of the configuration appears in %s", at)
	}
	return nil
}

// answer is what the plugin says to a question, for users to see.
type answer struct {
	method  string
	message proto.Message
}

func (p *probe) answers() []answer {
	var all []answer
	if state, err := p.liveOnce(); err == nil {
		all = append(all, answer{"GetLivestate", state.answer})
	}
	if preview, err := previewed(p); err == nil {
		all = append(all, answer{"GetPlanPreview", preview})
	}
	if drift, err := p.drift(); err == nil {
		all = append(all, answer{"GetDrift", drift})
	}
	return all
}
