// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
)

// askMixed asks for the live state of the first commit when the last deploy target alone has the other one. A cache
// gets some time.
func (s *story) askMixed() {
	s.lastNow = s.lookLive(s.first, s.targets[len(s.targets)-1:])
	for began := time.Now(); ; s.probe.pause(100 * time.Millisecond) {
		s.mixed = s.lookLive(s.first, s.targets)
		late := time.Since(began) > s.probe.suite.bounds.settle() || s.probe.ctx.Err() != nil
		if !s.overlooked() || late {
			return
		}
	}
}

// overlooked is whether the live state of all deploy targets is SYNCED while the last of them alone is OUT_OF_SYNC.
func (s *story) overlooked() bool {
	return s.mixed != nil && s.mixed.sync == model.ApplicationSyncStatus_SYNCED &&
		s.lastNow.sync == model.ApplicationSyncStatus_OUT_OF_SYNC
}

// unseenBy is the verdict about a question that says, of the other commit, that nothing differs, while the stage writes
// other files with it; nil where that is not known. A file that the configuration of the application does not name may
// be none that the plugin has to compare.
func (s *story) unseenBy(answer string) error {
	moved := s.files.moved()
	if len(moved) == 0 {
		return nil
	}
	text := fmt.Sprintf("with another %s, %s, and %s then changes %s at the deploy target %s: the change is not seen",
		s.what, answer, s.stage, moved[0].path, moved[0].target)
	if s.named {
		return errors.New(text)
	}
	return note("%s, or it is one that does not count, since the configuration of the application does not name %s",
		text, s.what)
}

// filesOfLast judges a deployment to the last deploy target alone by the files of all.
func (s *story) filesOfLast() error {
	if s.files.onlyLast == nil {
		return nil
	}
	for _, target := range s.targets {
		switch {
		case target != s.lastTarget() && s.files.hold(target, s.files.onlyLast, s.files.other):
			return fmt.Errorf("a deployment to the deploy target %s alone has changed %s", s.lastTarget(), target)
		case target == s.lastTarget() && s.files.hold(target, s.files.onlyLast, s.files.first):
			return fmt.Errorf("a deployment to the deploy target %s alone has not changed it", target)
		}
	}
	return nil
}

// lost is a deploy target that the rollback has left as the other commit has it; empty for none.
func (s *story) lost() string {
	for _, target := range s.targets {
		if s.files.restored != nil && s.files.hold(target, s.files.restored, s.files.other) {
			return target
		}
	}
	return ""
}

// writtenByPreview is the verdict about files at deploy targets that a plan preview has changed.
func (s *story) writtenByPreview() error {
	if len(s.files.previewed) == 0 {
		return nil
	}
	file := s.files.previewed[0]
	return note("a plan preview has written %s, at a place that the configuration of the deploy target %s names: it "+
		"has to read there alone, unless that is a cache", file.path, file.target)
}
