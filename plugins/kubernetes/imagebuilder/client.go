// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package imagebuilder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

const (
	// defaultPatience is how long a server may not answer.
	defaultPatience = 30 * time.Second
	firstPause      = 50 * time.Millisecond
	longestPause    = time.Second
	// maxKeyBytes bounds the key file; a key has some fifty characters.
	maxKeyBytes = 4 << 10
)

// Client calls image builders. Its zero value is ready for use, by several goroutines.
type Client struct {
	// Patience bounds the time without an answer. Zero: 30 seconds.
	Patience time.Duration
}

// Resolve reports which references are built from the repository in directory, and as what they are deployed.
func (c Client) Resolve(ctx context.Context, b config.ImageBuilder, directory string,
	images []string) (map[string]string, error) {
	var resp *imagev1.ResolveResponse
	err := c.call(ctx, b, func(ctx context.Context, service imagev1.ImageServiceClient, _ func()) (err error) {
		resp, err = service.Resolve(ctx, &imagev1.ResolveRequest{Directory: directory, Images: images})
		return err
	})
	if status.Code(err) == codes.Unimplemented {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find out which images are built: %w", explain(b, err))
	}
	return resp.GetReferences(), nil
}

// Provide returns when the images are in the cluster of a deploy target. progress gets one line for each step.
func (c Client) Provide(ctx context.Context, b config.ImageBuilder, directory, target string, images []string,
	progress func(string)) error {
	err := c.call(ctx, b, func(ctx context.Context, service imagev1.ImageServiceClient, answered func()) error {
		stream, err := service.Provide(ctx, &imagev1.ProvideRequest{Directory: directory, Images: images,
			Target: target})
		if err != nil {
			return err
		}
		for {
			resp, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			answered()
			progress(resp.GetProgress())
		}
	})
	if err != nil && status.Code(err) != codes.Unimplemented {
		return fmt.Errorf("build the images: %w", explain(b, err))
	}
	return nil
}

// call tries until the server answers, or has not for too long. answered starts that time again.
func (c Client) call(ctx context.Context, b config.ImageBuilder,
	try func(ctx context.Context, service imagev1.ImageServiceClient, answered func()) error) error {
	conn, err := grpc.NewClient("passthrough:///"+b.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("use the image builder at %s: %w", b.Address, err)
	}
	defer conn.Close()
	service := imagev1.NewImageServiceClient(conn)
	patience := c.Patience
	if patience == 0 {
		patience = defaultPatience
	}
	last, pauses := time.Now(), cluster.Pauses(firstPause, longestPause)
	answered := func() { last, pauses = time.Now(), cluster.Pauses(firstPause, longestPause) }
	for {
		authorized, err := authorize(ctx, b)
		if err != nil {
			return err
		}
		err = try(authorized, service, answered)
		if status.Code(err) != codes.Unavailable || time.Since(last) > patience {
			return err
		}
		if err := cluster.Wait(ctx, pauses); err != nil {
			return err
		}
	}
}

func authorize(ctx context.Context, b config.ImageBuilder) (context.Context, error) {
	file, err := os.Open(b.APIKeyFile)
	if err != nil {
		return nil, fmt.Errorf("read the image builder's key: %w", err)
	}
	defer file.Close()
	key, err := io.ReadAll(io.LimitReader(file, maxKeyBytes))
	if err != nil {
		return nil, fmt.Errorf("read the image builder's key: %w", err)
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "API-KEY "+strings.TrimSpace(string(key))), nil
}

// explain returns an answer in the words of the server, and the next step where it has none.
func explain(b config.ImageBuilder, err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	switch s.Code() {
	case codes.Unauthenticated:
		return fmt.Errorf("the image builder at %s does not know the key in %s; start the environment again", b.Address,
			b.APIKeyFile)
	case codes.Unavailable:
		return fmt.Errorf("the image builder at %s does not answer (%s); see that the environment runs, or take "+
			"imageBuilder out of the deploy target", b.Address, s.Message())
	}
	return &answer{err: err, text: s.Message()}
}

// answer is a failure in the server's words.
type answer struct {
	err  error
	text string
}

func (a *answer) Error() string { return a.text }

// Unwrap returns the call's own error.
func (a *answer) Unwrap() error { return a.err }
