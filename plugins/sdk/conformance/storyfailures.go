// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// undone is what was seen of the rollback of a first deployment.
type undone struct {
	tried bool
	end   error
	// at is a deploy target that has what was deployed afterwards; empty for none.
	at string
}

// undo deploys the other commit as the first deployment, and rolls that back.
func (s *story) undo() {
	if len(s.files.moved()) == 0 && !s.apart() || s.deploy(s.stage, s.other, nil, s.targets) != nil {
		return
	}
	s.undone.tried = true
	if s.undone.end = s.deploy(s.rollback, s.other, nil, s.targets); s.undone.end != nil {
		return
	}
	for began := time.Now(); ; s.probe.pause(100 * time.Millisecond) {
		s.undone.at = s.left()
		late := time.Since(began) > s.probe.suite.bounds.settle() || s.probe.ctx.Err() != nil
		if s.undone.at == "" || late {
			return
		}
	}
}

// left is a deploy target that has the other commit; empty for none.
func (s *story) left() string {
	files := s.session.targetFiles()
	for _, target := range s.targets {
		switch {
		case files != nil && s.files.hold(target, files, s.files.other),
			s.apart() && s.look(s.other, []string{target}).like() == sameAsCommit:
			return target
		}
	}
	return ""
}

// verdict notes a rollback that has succeeded and removed nothing; nil otherwise.
func (u *undone) verdict(rollback string) error {
	if u.at == "" {
		return nil
	}
	return note("%s of a first deployment succeeded, and what that has deployed is still at %s: users see a rollback "+
		"that succeeded; that is right only where nothing can be removed", rollback, u.at)
}

// blocked is what was seen of a deployment to a deploy target that cannot be written to.
type blocked struct {
	tried   bool
	started error
	end     error
}

// block has the stage deploy to all deploy targets when the last of them is below a file, in place of the directories
// in which the stage has written.
func (s *story) block() {
	file := filepath.Join(s.probe.suite.scratch, "blocked")
	if os.WriteFile(file, nil, 0o600) != nil {
		return
	}
	replaced := false
	replace := func(text string) string {
		for _, path := range s.session.pathsOf(text) {
			if slices.ContainsFunc(s.files.moved(), func(f targetFile) bool {
				return f.target == s.lastTarget() && holdsPath(path, f.path)
			}) {
				replaced = true
				return filepath.Join(file, "place")
			}
		}
		return text
	}
	x, err := s.probe.start(setup{settings: func(settings *sdk.Settings) {
		settings.DeployTargets = slices.Clone(settings.DeployTargets)
		last := &settings.DeployTargets[len(settings.DeployTargets)-1]
		last.Config = withTexts(last.Config, replace)
	}})
	switch {
	case !replaced:
		return
	case errors.Is(err, errNotStarted):
		s.blocked = blocked{tried: true, started: err}
	case err == nil:
		s.blocked = blocked{tried: true, end: s.deployIn(x, s.stage, s.other, s.first, s.targets)}
	}
}

// withTexts is a JSON document with other texts, without keys.
func withTexts(document json.RawMessage, replace func(string) string) json.RawMessage {
	var value any
	if json.Unmarshal(document, &value) != nil {
		return document
	}
	var edit func(any) any
	edit = func(value any) any {
		switch value := value.(type) {
		case string:
			return replace(value)
		case []any:
			for i := range value {
				value[i] = edit(value[i])
			}
		case map[string]any:
			for key := range value {
				value[key] = edit(value[key])
			}
		}
		return value
	}
	edited, err := json.Marshal(edit(value))
	if err != nil {
		return document
	}
	return edited
}

// verdict is the error of a stage that has succeeded although it cannot have; nil otherwise.
func (b *blocked) verdict(stage, target string) error {
	if !b.tried || b.started != nil || b.end != nil {
		return nil
	}
	return fmt.Errorf("%s answers SUCCESS, although nothing can be written at the deploy target %s, whose directory "+
		"would be below a file: collect the errors of all deploy targets, and end the stage in FAILURE", stage, target)
}
