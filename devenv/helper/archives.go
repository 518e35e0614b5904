// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"context"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
	"github.com/pipedeck/pipedeck/devenv/image"
)

var _ image.Archives = (*Helper)(nil)

// Write implements image.Archives.
func (h *Helper) Write(
	ctx context.Context, program, system, architecture string, references []string, path string,
) (size int64, err error) {
	return h.archive(ctx, &helperv1.WriteArchiveRequest{Path: path, References: references,
		From: &helperv1.WriteArchiveRequest_Program{Program: &helperv1.Program{
			Path: program, Os: system, Architecture: architecture,
		}}})
}

// Rename implements image.Archives.
func (h *Helper) Rename(ctx context.Context, from string, references []string, path string) (size int64, err error) {
	return h.archive(ctx, &helperv1.WriteArchiveRequest{Path: path, References: references,
		From: &helperv1.WriteArchiveRequest_Archive{Archive: from}})
}

func (h *Helper) archive(ctx context.Context, request *helperv1.WriteArchiveRequest) (size int64, err error) {
	err = h.call(ctx, func(client helperv1.HelperServiceClient) error {
		response, err := client.WriteArchive(ctx, request)
		size = response.GetSize()
		return err
	})
	return size, err
}
