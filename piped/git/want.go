// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// whole is the depth of a whole history.
const whole = 0

// wanted is a commit to fetch.
type wanted struct {
	id plumbing.Hash
	// depth counts the commits of the history, this one included; whole is all of them.
	depth int
	// haves are commits that are there, with their files, and with their history when that of id is wanted.
	haves []plumbing.Hash
}

// thin reports whether the pack may build upon what is there.
func (want wanted) thin() bool { return want.depth != whole && len(want.haves) > 0 }

// fetch asks for one pack and gives it to the consumer, which has to read all of it.
func (want wanted) fetch(
	ctx context.Context, session transport.UploadPackSession, refs *packp.AdvRefs, consume func(io.Reader) error,
) error {
	request := packp.NewUploadPackRequestFromCapabilities(refs.Capabilities)
	request.Wants, request.Haves = []plumbing.Hash{want.id}, want.haves
	if refs.Capabilities.Supports(capability.NoProgress) {
		_ = request.Capabilities.Set(capability.NoProgress)
	}
	switch {
	case want.depth == whole:
	case refs.Capabilities.Supports(capability.Shallow):
		_ = request.Capabilities.Set(capability.Shallow)
		request.Depth = packp.DepthCommits(want.depth)
		request.Shallows = want.haves
		if want.thin() {
			_ = request.Capabilities.Set(capability.ThinPack) // go-git takes it from what every server can do
		}
	default:
		request.Haves = nil // the server would take their history for granted
	}
	response, err := session.UploadPack(ctx, request)
	if err != nil {
		return err
	}
	defer response.Close()
	err = consume(demultiplex(request.Capabilities, response))
	if ctx.Err() != nil { // the end of the connection may look like the end of the pack
		return context.Cause(ctx)
	}
	return err
}
