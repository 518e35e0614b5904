// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
)

const (
	localPodsFlag = "local-pods"
	// localImageExample is the next step of a user whose --local-image cannot be read.
	localImageExample = "for example --local-image registry.example/shop:v2=./shop,port"
	// anyProgram in may-run stands for all programs.
	anyProgram = "*"
)

// runsLocally reports whether a cluster may run images as processes of this machine.
func (f *clusterFlags) runsLocally() (bool, error) {
	parsed, err := f.parse()
	return f.localPods && slices.ContainsFunc(parsed, func(n namedKind) bool {
		return n.kind == cluster.Embedded || n.kind == clusterAuto
	}), err
}

// mapped returns the programs of --local-image, each checked to be there; each problem is the user's.
func (f *clusterFlags) mapped() (images []embedded.LocalImage, err error) {
	for _, given := range f.localImages {
		image, err := parseLocalImage(given)
		if err == nil {
			image.SHA256, err = digestOf(image.Path)
		}
		if err != nil {
			return nil, exit.Usage(fmt.Errorf("--local-image %s: %w", given, err), localImageExample)
		}
		images = append(images, image)
	}
	return images, nil
}

// parseLocalImage reads IMAGE=PROGRAM[,port][,may-run=PROGRAM].
func parseLocalImage(given string) (embedded.LocalImage, error) {
	reference, rest, found := strings.Cut(given, "=")
	if !found {
		return embedded.LocalImage{}, errors.New("want IMAGE=PROGRAM")
	}
	if _, err := name.ParseReference(reference); err != nil {
		return embedded.LocalImage{}, fmt.Errorf("the image %q: %w", reference, err)
	}
	program, options, _ := strings.Cut(rest, ",")
	if program == "" {
		return embedded.LocalImage{}, errors.New("it names no program")
	}
	image := embedded.LocalImage{Image: reference, Path: absolute("", program)}
	for option := range strings.SplitSeq(options, ",") {
		other, mayRun := strings.CutPrefix(option, "may-run=")
		switch {
		case option == "":
		case option == "port":
			image.HonoursPort = true
		case mayRun && other == anyProgram:
			image.MayRun = append(image.MayRun, anyProgram)
		case mayRun && filepath.IsAbs(other):
			image.MayRun = append(image.MayRun, filepath.Clean(other))
		case mayRun:
			return image, fmt.Errorf("may-run=%s: want an absolute path, or * for any program", other)
		default:
			return image, fmt.Errorf("unknown option %q: want port or may-run=PROGRAM", option)
		}
	}
	return image, nil
}

// digestOf returns the SHA-256 of a program, as hexadecimal digits.
func digestOf(program string) (string, error) {
	file, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return "", fmt.Errorf("%s is not an executable file", program)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read %s: %w", program, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// absoluteLocalImage is absolute for IMAGE=PROGRAM with options.
func absoluteLocalImage(dir, value string) string {
	image, rest, _ := strings.Cut(value, "=")
	program, options, more := strings.Cut(rest, ",")
	value = image + "=" + absolute(dir, program)
	if more {
		value += "," + options
	}
	return value
}
