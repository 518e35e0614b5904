// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

func configCases() []Case {
	return []Case{{
		ID: "config.malformed", Capability: Start, run: malformedConfig,
		Title: "ends with an error when --config is not JSON",
		Why: "piped shows the last words of a plugin that does not start; a plugin that goes on has the wrong " +
			"settings",
		Next: "exit with a code that is not 0 and a message",
	}, {
		ID: "config.type", Capability: Start, run: configOfWrongType,
		Title: "a configuration of the wrong type ends the start with an error",
		Why:   "a mistake in the piped configuration would be found in the middle of a deployment, or never",
		Next:  "decode plugins[].config at the start; exit with a code that is not 0 and a message when that fails",
	}, {
		ID: "config.absent", Capability: Start, run: configAbsent,
		Title: "starts without a configuration, or says what it needs",
		Why:   "piped leaves the key config out when the plugin has none",
		Next:  "treat an absent config as {}; name the missing keys otherwise",
	}, {
		ID: "config.unknown", Capability: Start, run: configUnknown,
		Title: "ignores keys of its configuration that it does not know",
		Why: "PipeCD's plugins ignore them, so that one configuration serves an older and a newer version of a " +
			"plugin",
		Next: "ignore unknown keys; a schema lets pipedeck validate find them before",
	}, {
		ID: "config.target.null", Capability: Start, run: nullTarget,
		Title: "takes a deploy target without a configuration, or says what it needs",
		Why:   "piped sends config: null for a deploy target without one",
		Next:  "treat null as {}; name the missing keys otherwise",
	}}
}

// tried is a start that may end by itself.
type tried struct {
	process *process
	ended   bool
	// serves says that the program answers; where is what is seen of one that neither answers nor ends.
	serves bool
	where  string
}

// tryStart starts the program as piped does, with a service, and returns once it serves or has ended.
func (s *suite) tryStart(p *probe, port int, limit time.Duration, edits ...func(*sdk.Settings)) (*tried, error) {
	rec := newRecorder()
	piped, err := standin.Start(standin.Options{Each: rec.each, Invalid: rec.refused})
	if err != nil {
		return nil, err
	}
	defer func() { _ = piped.Close() }()
	x := &session{suite: s, rec: rec, port: port}
	foreign := port != 0
	defer func() { _ = x.close() }()
	how := setup{settings: func(settings *sdk.Settings) {
		for _, edit := range edits {
			edit(settings)
		}
	}}
	if err := x.launch(piped.Address, how); err != nil {
		return nil, err
	}
	t := &tried{process: x.process}
	if foreign { // what answers there is not the program
		t.ended = x.process.wait(p.ctx, limit)
		t.where = listening(x.process.mark)
	} else {
		err := x.await(p.ctx)
		t.serves = err == nil
		t.ended = x.process.wait(p.ctx, 0)
		if !t.serves && !t.ended {
			t.where = ": " + err.Error()
		}
	}
	return t, p.ctx.Err()
}

func listening(mark string) string {
	if found := listeners(mark); len(found) > 0 {
		return fmt.Sprintf("; it listens on %v", found)
	}
	return ""
}

// config is the plugin's entry of the piped configuration, as JSON.
func (s *suite) config(port int) (string, error) {
	settings := s.options.Settings
	settings.Port = port
	data, err := json.Marshal(settings)
	return string(data), err
}

// malformedConfig has a piped that answers: a plugin may wait for one before it reads its configuration.
func malformedConfig(p *probe) (err error) {
	piped, err := standin.Start(standin.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, piped.Close()) }()
	return p.refuses("a --config that is not JSON", "start", "--piped-plugin-service", piped.Address, "--config",
		`{"name": "broken`)
}

// startsOrSays passes a program that serves, or that ends with an error and a message.
func startsOrSays(p *probe, what string, edit func(*sdk.Settings)) (served bool, err error) {
	t, err := p.suite.tryStart(p, 0, p.suite.bounds.Start, edit)
	switch {
	case err != nil:
		return false, err
	case t.serves:
		return true, nil
	case !t.ended:
		return false, fmt.Errorf("with %s it neither serves nor ends%s", what, t.where)
	case t.process.err == nil:
		return false, fmt.Errorf("with %s it ended with exit code 0", what)
	case t.process.output.bytes() == 0:
		return false, fmt.Errorf("with %s it ended without a message", what)
	}
	p.saw("%s", t.process.end())
	return false, nil
}

func configOfWrongType(p *probe) error {
	served, err := startsOrSays(p, "a list as its configuration", func(settings *sdk.Settings) {
		settings.Config = json.RawMessage(`["a list", 1]`)
	})
	switch {
	case err != nil:
		return err
	case served && len(p.suite.options.Settings.Config) > 0 && !p.knowsConfig():
		return note("it serves with a list as its configuration; that is right for a plugin that reads none")
	case served && len(p.suite.options.Settings.Config) > 0:
		return errors.New("it serves with a list as its configuration, which has to be a mapping")
	case served:
		return skip("it has no configuration")
	}
	return nil
}

func configAbsent(p *probe) error {
	served, err := startsOrSays(p, "no configuration", func(settings *sdk.Settings) { settings.Config = nil })
	if served {
		p.saw("it serves")
	}
	return err
}

func configUnknown(p *probe) error {
	_, err := p.start(setup{settings: func(settings *sdk.Settings) {
		settings.Config = withKey(settings.Config, "conformanceUnknownKey", true)
	}})
	if errors.Is(err, errNotStarted) && p.ctx.Err() == nil && p.suite.startError() == nil {
		return note("it refuses them: %s", err)
	}
	return err
}

func nullTarget(p *probe) error {
	if len(p.suite.options.Settings.DeployTargets) == 0 {
		return skip("it is configured without deploy targets")
	}
	served, err := startsOrSays(p, "a deploy target without configuration", func(settings *sdk.Settings) {
		targets := append([]sdk.DeployTargetConfig(nil), settings.DeployTargets...)
		targets[0].Config = json.RawMessage("null")
		settings.DeployTargets = targets
	})
	if served {
		p.saw("it serves")
	}
	return err
}

// withKey returns a JSON object with one key more; what is no object is returned as it is.
func withKey(raw json.RawMessage, key string, value any) json.RawMessage {
	object := map[string]json.RawMessage{}
	if len(raw) > 0 && json.Unmarshal(raw, &object) != nil {
		return raw
	}
	if object == nil {
		object = map[string]json.RawMessage{}
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	object[key] = encoded
	if all, err := json.Marshal(object); err == nil {
		return all
	}
	return raw
}

// knowsConfig is whether the schema of the plugin says that it has a configuration.
func (p *probe) knowsConfig() bool {
	root, err := definitions(p)
	if err != nil {
		return false
	}
	_, has := root.Definitions["config"]
	return has
}
