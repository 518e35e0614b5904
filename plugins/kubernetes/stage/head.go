// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// headKey is where piped looks for the head of the branch whenever it is asked, and answers with the repository there.
// PipeCD's piped does not.
const headKey sdk.SharedKey[headAnswer] = "pipedeck/head"

type headAnswer struct {
	Commit string `json:"commit"`
	// Directory is that of the repository. It stays while the stage runs.
	Directory string `json:"directory"`
}

// headNow is the repository at the head of the branch as it is now, in the place of s; s itself when piped does not
// say. The application need not be there, and its configuration is that of s.
func headNow(ctx context.Context, req *Request, s *Source) (*Source, error) {
	head, found, err := headKey.Get(ctx, req.Client)
	if err != nil {
		return nil, fmt.Errorf("look for the head of the branch: %w", err)
	}
	if !found || s == nil || head.Commit == s.CommitHash {
		return s, nil
	}
	within, err := filepath.Rel(repositoryRoot(s), s.Dir)
	if err != nil {
		return nil, err
	}
	at := *s
	at.CommitHash, at.Dir = head.Commit, filepath.Join(head.Directory, within)
	at.SharedConfigDir = filepath.Join(head.Directory, SharedConfigFolder)
	return &at, nil
}
