// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

const (
	// maxReferences bounds what a server may say about its branches and tags, in bytes.
	maxReferences = 64 << 20
	// maxComplaint bounds what is kept of a server's standard error, in bytes.
	maxComplaint = 4 << 10
)

// stream speaks version 0 of Git's protocol over one connection, of ssh or of git://. go-git's own cannot be
// given a connection, so nothing could bound how long it waits for a server. It is for one goroutine and
// ends with the context that it was opened with.
type stream struct {
	in  io.WriteCloser
	out io.Reader
	// complaint is what the server has to say besides, complete once out has ended; nil for git://.
	complaint func() string
	close     func()
	refs      *packp.AdvRefs
	// asked is set when the server is not waiting for the first request any more.
	asked bool
}

var (
	_ transport.UploadPackSession  = (*stream)(nil)
	_ transport.ReceivePackSession = (*stream)(nil)
)

// AdvertisedReferences is not for use: it has no context.
func (s *stream) AdvertisedReferences() (*packp.AdvRefs, error) {
	return s.AdvertisedReferencesContext(context.Background())
}

// AdvertisedReferencesContext reads what the server has. The error is transport.ErrRepositoryNotFound or
// transport.ErrEmptyRemoteRepository, as for HTTP.
func (s *stream) AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error) {
	if s.refs != nil {
		return s.refs, nil
	}
	refs := packp.NewAdvRefs()
	err := refs.Decode(io.LimitReader(s.out, maxReferences))
	var line *pktline.ErrorLine
	var odd *packp.ErrUnexpectedData
	switch {
	case err == nil && !refs.IsEmpty():
		transport.FilterUnsupportedCapabilities(refs.Capabilities)
		s.refs = refs
		return refs, nil
	case err == nil, errors.Is(err, packp.ErrEmptyAdvRefs):
		transport.FilterUnsupportedCapabilities(refs.Capabilities)
		s.refs = refs
		return refs, transport.ErrEmptyRemoteRepository
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &line):
		return nil, refusal(line.Text)
	case errors.As(err, &odd):
		return nil, refusal(string(odd.Data))
	case errors.Is(err, packp.ErrEmptyInput) && s.complaint != nil:
		return nil, refusal(s.complaint())
	}
	return nil, err
}

// refusal is an answer of a server that gives nothing.
func refusal(answer string) error {
	answer = strings.TrimSpace(answer)
	for _, missing := range []string{
		"not found", "does not appear to be a git repository", "could not be found", "does not exist",
		"no such repository", "not exported",
	} {
		if strings.Contains(strings.ToLower(answer), missing) {
			return transport.ErrRepositoryNotFound
		}
	}
	if answer == "" {
		return errors.New("the server closed the connection and did not say why")
	}
	return fmt.Errorf("the server answered: %q", answer)
}

// UploadPack asks for a pack; what it returns has to be read to its end.
func (s *stream) UploadPack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	if err := request.Validate(); err != nil {
		return nil, err
	}
	s.asked = true
	err := request.UploadRequest.Encode(s.in)
	if err == nil {
		err = request.UploadHaves.Encode(s.in, false)
	}
	if err == nil {
		err = pktline.NewEncoder(s.in).EncodeString("done\n")
	}
	response := packp.NewUploadPackResponse(request)
	if err == nil {
		err = response.Decode(io.NopCloser(s.out))
	}
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return response, err
}

// ReceivePack sends a pack and has a branch moved.
func (s *stream) ReceivePack(ctx context.Context, request *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error) {
	s.asked = true
	report, err := s.receivePack(request)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return report, err
}

func (s *stream) receivePack(request *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error) {
	if err := errors.Join(request.Encode(s.in), s.in.Close()); err != nil {
		return nil, err
	}
	if !request.Capabilities.Supports(capability.ReportStatus) {
		_, err := io.Copy(io.Discard, s.out)
		return nil, err
	}
	report := packp.NewReportStatus()
	if err := report.Decode(demultiplex(request.Capabilities, s.out)); err != nil {
		return nil, err
	}
	return report, report.Error()
}

// Close ends the session, politely when the server still waits for a request.
func (s *stream) Close() error {
	if s.refs != nil && !s.asked {
		_, _ = s.in.Write(pktline.FlushPkt)
	}
	s.close()
	return nil
}

// demultiplex takes the pack, or the report, out of what comes with progress and errors between.
func demultiplex(capabilities *capability.List, reader io.Reader) io.Reader {
	switch {
	case capabilities.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, reader)
	case capabilities.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, reader)
	}
	return reader
}

// complaints keeps the beginning of what is written to it.
type complaints struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

// Write never fails.
func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Write(p[:min(len(p), maxComplaint-c.kept.Len())])
	return len(p), nil
}

// String is what was kept.
func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.String()
}
