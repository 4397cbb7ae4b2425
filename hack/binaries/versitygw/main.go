// Command versitygw serves S3 over a folder, as github.com/versity/versitygw does, to keys that do not trust each other.
//
// Upstream's command (1.8.0) joins an upload id from the request into a path without looking at it, so that any key removes and
// writes files of every bucket and beyond. Here a guard (guard.go) stands between the requests and the folder. It also mistakes
// users for each other, but for users.go.
//
// It takes the part of upstream's command line that Carrel uses; the root key comes from ROOT_ACCESS_KEY and ROOT_SECRET_KEY.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

// version distinguishes this program from upstream's, which must not be shared (pkg/local/binaries/binaries.ts compares it).
const version = "v1.8.0+carrel.2"

// The bounds of upstream's command line.
const (
	maxConnections      = 250_000
	maxRequests         = 100_000
	maxParts            = 10_000
	copyObjectThreshold = 5 << 30 // bytes
)

func main() {
	config := embedgw.Config{
		RootUserAccess:      os.Getenv("ROOT_ACCESS_KEY"),
		RootUserSecret:      os.Getenv("ROOT_SECRET_KEY"),
		MaxConnections:      maxConnections,
		MaxRequests:         maxRequests,
		AdminMaxConnections: maxConnections,
		AdminMaxRequests:    maxRequests,
		MultipartMaxParts:   maxParts,
		Version:             version,
	}
	showVersion := flag.Bool("version", false, "print the version")
	port := flag.String("port", "127.0.0.1:7070", "address of the S3 interface")
	adminPort := flag.String("admin-port", "", "address of the admin interface; without it, it is on the S3 interface")
	flag.StringVar(&config.Region, "region", "us-east-1", "region")
	usersFolder := flag.String("iam-dir", "", "folder of the users; without it, there is the root key alone")
	flag.BoolVar(&config.KeepAlive, "keep-alive", false, "keep connections open between requests")
	flag.BoolVar(&config.Quiet, "quiet", false, "log no requests")
	flag.StringVar(&config.CertFile, "cert", "", "TLS certificate of the S3 interface")
	flag.StringVar(&config.KeyFile, "key", "", "TLS key of the S3 interface")
	flag.StringVar(&config.AdminCertFile, "admin-cert", "", "TLS certificate of the admin interface")
	flag.StringVar(&config.AdminKeyFile, "admin-cert-key", "", "TLS key of the admin interface")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: versitygw [options] posix <folder>")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *showVersion {
		fmt.Println("Version  :", version)
		return
	}
	if flag.NArg() != 2 || flag.Arg(0) != "posix" {
		flag.Usage()
		os.Exit(2)
	}
	config.Ports = []string{*port}
	if *adminPort != "" {
		config.AdminPorts = []string{*adminPort}
	}
	if *usersFolder != "" {
		service, err := newUsers(auth.Account{Access: config.RootUserAccess, Secret: config.RootUserSecret, Role: auth.RoleAdmin}, *usersFolder)
		if err != nil {
			log.Fatal(err)
		}
		config.IAMService = service
	}
	if err := run(flag.Arg(1), &config); err != nil {
		log.Fatal(err)
	}
}

func run(folder string, config *embedgw.Config) error {
	if err := (meta.XattrMeta{}).Test(folder); err != nil {
		return fmt.Errorf("xattr check failed: %w", err)
	}
	files, err := posix.New(folder, meta.XattrMeta{}, posix.PosixOpts{CopyObjectThreshold: copyObjectThreshold})
	if err != nil {
		return fmt.Errorf("init posix backend: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	reload := make(chan struct{}, 1)
	config.SigHup = reload
	go func() {
		for range hangUps {
			reload <- struct{}{}
		}
	}()
	return embedgw.RunVersityGW(ctx, guard{Backend: files}, config)
}
