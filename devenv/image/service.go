// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// maxImages bounds one request, as the API says.
const maxImages = 1000

// LoadFunc brings an image to the cluster of a deploy target. It waits until that cluster is ready. The archive is
// empty when nothing could be built; then only a cluster that runs nothing takes the references, and others answer
// cluster.ErrNeedsArchive. cluster.ErrNoImages when the cluster takes no images at all.
type LoadFunc func(ctx context.Context, target string, image cluster.Image) error

// HasFunc reports whether the cluster of a deploy target still has what LoadFunc has brought there.
type HasFunc func(target string, references []string) bool

// Service serves the image API.
type Service struct {
	imagev1.UnimplementedImageServiceServer
	Config
	platform Platform
	loaded   *loaded
}

// Config is what a Service works with.
type Config struct {
	Builder *Builder
	Load    LoadFunc
	Has     HasFunc
	// Programs says that clusters may run images as processes of this machine, so that each image comes with a program
	// for it.
	Programs bool
	Logger   *slog.Logger
}

var _ imagev1.ImageServiceServer = (*Service)(nil)

// NewService creates a service for clusters whose nodes have this machine's processor architecture.
func NewService(c Config) *Service {
	return &Service{Config: c, platform: Platform{OS: "linux", Architecture: runtime.GOARCH}, loaded: newLoaded()}
}

// Resolve implements imagev1.ImageServiceServer.
func (s *Service) Resolve(_ context.Context, req *imagev1.ResolveRequest) (*imagev1.ResolveResponse, error) {
	if err := check(req.GetDirectory(), req.GetImages()); err != nil {
		return nil, err
	}
	found, err := resolve(req.GetDirectory(), req.GetImages())
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	references := map[string]string{}
	for written, sources := range found {
		references[written] = sources.Reference()
	}
	return &imagev1.ResolveResponse{References: references}, nil
}

// Provide implements imagev1.ImageServiceServer.
func (s *Service) Provide(
	req *imagev1.ProvideRequest, stream grpc.ServerStreamingServer[imagev1.ProvideResponse],
) error {
	if err := check(req.GetDirectory(), req.GetImages()); err != nil {
		return err
	}
	progress := func(line string) {
		// A stream that has broken ends its context, too.
		_ = stream.Send(&imagev1.ProvideResponse{Progress: line})
	}
	err := s.provide(stream.Context(), req, progress)
	switch {
	case err == nil:
		return nil
	case stream.Context().Err() != nil:
		return status.FromContextError(stream.Context().Err()).Err()
	}
	s.Logger.Warn("an image could not be provided", "target", req.GetTarget(), "error", err)
	return status.Error(codes.FailedPrecondition, explain(err))
}

func (s *Service) provide(ctx context.Context, req *imagev1.ProvideRequest, progress func(string)) error {
	found, err := resolve(req.GetDirectory(), req.GetImages())
	if err != nil {
		return err
	}
	// References of the same sources share an archive.
	references := map[string][]string{}
	programs := map[string]*Sources{}
	for written, sources := range found {
		reference := sources.Reference()
		programs[reference] = sources
		references[reference] = append(references[reference], reference, written)
	}
	for _, reference := range slices.Sorted(maps.Keys(programs)) {
		names := slices.Compact(slices.Sorted(slices.Values(references[reference])))
		if err := s.bring(ctx, req.GetTarget(), programs[reference], names, progress); err != nil {
			return err
		}
	}
	return nil
}

// bring builds one image and loads it into one cluster, unless that was done before.
func (s *Service) bring(
	ctx context.Context, target string, sources *Sources, names []string, progress func(string),
) error {
	has := func() bool { return s.loaded.has(target, sources.Digest, names) && s.Has(target, names) }
	if has() {
		return nil
	}
	image, buildErr := s.build(ctx, sources, names, progress)
	if buildErr != nil && !errors.Is(buildErr, ErrNoGo) {
		return buildErr
	}
	waiting := func() {
		progress(fmt.Sprintf("Waiting for %s: images are being loaded into the cluster of %s", sources.Reference(),
			target))
	}
	load := func() error {
		if buildErr == nil {
			progress(fmt.Sprintf("Loading %s into the cluster of %s as soon as that takes images", sources.Reference(),
				target))
		}
		err := s.Load(ctx, target, image)
		switch {
		case errors.Is(err, cluster.ErrNeedsArchive):
			return fmt.Errorf("build %s: %w", sources.Reference(), ErrNoGo)
		case err != nil:
			return fmt.Errorf("load %s into the cluster of %s: %w", sources.Reference(), target, err)
		case buildErr != nil:
			progress(fmt.Sprintf("%s is not built: %v. The cluster runs nothing, so the name is enough, and the "+
				"pods are simulated", sources.Reference(), buildErr))
		default:
			progress("Loaded " + sources.Reference())
		}
		return nil
	}
	return s.loaded.once(ctx, target, loading{sources.Digest, names, has, waiting, load})
}

// build makes all that clusters may need of an image. With ErrNoGo the image has names only.
func (s *Service) build(
	ctx context.Context, sources *Sources, names []string, progress func(string),
) (image cluster.Image, err error) {
	image.References = names
	if image.Archive, err = s.Builder.Build(ctx, sources, s.platform, names, progress); err != nil {
		return cluster.Image{References: names}, err
	}
	if s.Programs {
		image.Program, err = s.Builder.Program(ctx, sources, Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH},
			progress)
	}
	return image, err
}

// resolve finds the sources of those images that are built from the repository.
func resolve(directory string, images []string) (map[string]*Sources, error) {
	found := map[string]*Sources{}
	byFolder := map[string]*Sources{}
	for _, written := range images {
		folder := folderOf(written)
		if folder == "" {
			continue
		}
		sources, known := byFolder[folder]
		if !known {
			var err error
			if sources, err = FindSources(directory, written); err != nil {
				return nil, err
			}
			byFolder[folder] = sources
		}
		if sources != nil {
			found[written] = sources
		}
	}
	return found, nil
}

func check(directory string, images []string) error {
	if len(images) > maxImages {
		return status.Errorf(codes.InvalidArgument, "%d images are more than the %d of one request", len(images),
			maxImages)
	}
	if !filepath.IsAbs(directory) {
		return status.Errorf(codes.InvalidArgument, "the directory %q is not absolute", directory)
	}
	if info, err := os.Stat(directory); err != nil || !info.IsDir() {
		return status.Errorf(codes.InvalidArgument, "there is no directory %s", directory)
	}
	return nil
}

// explain adds the next step where there is one.
func explain(err error) string {
	var hinted *cluster.HintError
	switch {
	case errors.Is(err, cluster.ErrNoImages):
		return err.Error() + "; push the image to a registry that the cluster reads, and name it in the manifest"
	case errors.As(err, &hinted) && hinted.Hint != "":
		return err.Error() + "; " + hinted.Hint
	}
	return err.Error()
}
