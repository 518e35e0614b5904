// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package imagebuilder asks a server of the image API for the images that are built from the sources of applications.
//
// A server that does not have that API builds no images, which is no error. One that does not answer is tried again for
// a while: it may just be starting again. A failure holds the server's own words, such as a compiler's. The API key is
// read for each try and never shown.
//
// The loading of manifests asks which images are built; the stages ask for them to be there.
package imagebuilder
