// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package archive writes images of one program each as files in the format of `docker save`. The bytes of an archive
// depend on the program, the platform and the references alone.
//
// The program pipedeck-more has it: pipedeck is compiled without the library for images.
package archive
